import { describe, expect, test } from "vitest";
import { addPasskey, authorize, enrol, signIn, signOut } from "../../../src/features/console/ceremonies.ts";
import { CheckFailed, Refusal } from "../../../src/features/console/errors.ts";
import { AGENT, FakeGateway } from "./fake-gateway.ts";

const refused = (reason: string, message: string, status: number) => () => ({
  status,
  body: { error: { code: "refused", reason, message } },
});

describe("enrolment", () => {
  test("sends the token twice, the new passkey once and its name without blanks", async () => {
    const gateway = new FakeGateway();
    gateway.replies["/enrol/options"] = () => ({ status: 200, body: { challenge: "c" } });
    await enrol(gateway.environment, "TOKEN", "  laptop ");
    expect(gateway.environment.createPasskey).toHaveBeenCalledWith({ challenge: "c" });
    expect(gateway.posts).toEqual([
      { path: "/enrol/options", body: { token: "TOKEN" } },
      { path: "/enrol/verify", body: { token: "TOKEN", credential: { id: "new" }, name: "laptop" } },
    ]);
  });

  test("with a used link makes no passkey", async () => {
    const gateway = new FakeGateway();
    gateway.replies["/enrol/options"] = refused("enrolment", "this link was used already", 410);
    await expect(enrol(gateway.environment, "TOKEN", "")).rejects.toMatchObject({ reason: "enrolment", status: 410 });
    expect(gateway.environment.createPasskey).not.toHaveBeenCalled();
  });
});

test("signing in answers the gateway's challenge with whatever passkey the browser offers", async () => {
  const gateway = new FakeGateway();
  gateway.replies["/signin/options"] = () => ({ status: 200, body: { challenge: "c" } });
  await signIn(gateway.environment);
  expect(gateway.posts.at(-1)).toEqual({ path: "/signin/verify", body: { credential: { id: "known" } } });
});

test("a further passkey without a name sends none", async () => {
  const gateway = new FakeGateway();
  await addPasskey(gateway.environment, " ");
  expect(gateway.posts.at(-1)).toEqual({ path: "/passkeys/verify", body: { credential: { id: "new" } } });
});

describe("giving the shell a session", () => {
  test("gives the address when it is the shell's", async () => {
    const gateway = new FakeGateway();
    const location = `${AGENT}/callback?code=c&state=s`;
    gateway.replies["/authorize"] = () => ({ status: 200, body: { location } });
    expect(await authorize(gateway.environment, { state: "s", label: "public" }, AGENT)).toBe(location);
  });

  test.each([
    "https://evil.example/callback",
    "http://agent.localhost.evil.example:8765/",
    "http://agent.localhost:9999/",
    "javascript:alert(1)",
    "/callback",
    "//evil.example",
  ])("does not follow %s", async (location) => {
    const gateway = new FakeGateway();
    gateway.replies["/authorize"] = () => ({ status: 200, body: { location } });
    await expect(authorize(gateway.environment, { state: "s", label: "public" }, AGENT)).rejects.toBeInstanceOf(
      CheckFailed,
    );
  });
});

test.each([
  ["an answer without a body", undefined],
  ["a proxy's page", "<html>"],
  ["an error of another shape", { error: "no" }],
  ["null", null],
])("%s is still a refusal", async (_what, body) => {
  const gateway = new FakeGateway();
  gateway.replies["/signout"] = () => ({ status: 502, body });
  const refusal = await signOut(gateway.environment).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toMatchObject({ reason: "refused", status: 502 });
});
