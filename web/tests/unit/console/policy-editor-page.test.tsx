// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { PolicyProposed, PolicyText } from "../../../src/protocol/generated.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;
let active: PolicyText;
let answer: PolicyProposed;

beforeEach(() => {
  // A touch keyboard: the browser's own field.
  vi.stubGlobal("matchMedia", () => ({ matches: true }));
  gateway = new FakeGateway();
  active = { version: "v1", source: "database", documents: [{ name: "default.cedar", text: "first" }] };
  gateway.handlers["policy/get"] = () => active;
  gateway.handlers["policy/validate"] = () => ({ faults: [], rules: 1, version: "v2" });
  gateway.handlers["policy/history"] = () => ({ versions: [] });
  gateway.handlers["policy/proposals"] = () => ({ proposals: [] });
  gateway.handlers["policy/propose"] = () => answer;
  gateway.handlers["policy/shadow"] = () => ({});
});

afterEach(cleanup);

async function proposeChange(): Promise<HTMLElement> {
  openConsole(gateway, "/policy/editor");
  const area = await screen.findByLabelText("Text of default.cedar");
  await userEvent.type(area, " and mine");
  await userEvent.type(screen.getByLabelText("Why"), "so");
  await userEvent.click(screen.getByRole("button", { name: "Propose it" }));
  return area;
}

test("a draft is kept where another version came into force meanwhile", async () => {
  const check = { faults: [], rules: 1 };
  answer = { outcome: "conflict", check, active };
  gateway.handlers["policy/propose"] = () => {
    active = { ...active, version: "v2", documents: [{ name: "default.cedar", text: "theirs" }] };
    return answer;
  };
  const area = await proposeChange();
  expect(await screen.findByText("Another version came into force since you began")).toBeTruthy();
  expect((area as HTMLTextAreaElement).value).toBe("first and mine");
  expect(screen.getByLabelText("default.cedar: old and new lines").textContent).toContain("theirs");
});

test("a draft too large for a message is refused in words, nothing is sent, and nothing typed is lost", async () => {
  let examined = 0;
  gateway.handlers["policy/validate"] = () => {
    examined += 1;
    return { faults: [], rules: 1, version: "v2" };
  };
  openConsole(gateway, "/policy/editor");
  const area = (await screen.findByLabelText("Text of default.cedar")) as HTMLTextAreaElement;
  await vi.waitFor(() => expect(examined).toBe(1));
  // Each of these takes three bytes, so fewer than 256 Ki characters are too many.
  const large = "\u20ac".repeat(90_000);
  fireEvent.change(area, { target: { value: large } });
  const refusal = await screen.findByRole("alert");
  expect(refusal.textContent).toContain("This draft is too large to be sent from a page");
  expect(refusal.textContent).toContain("It takes 264 KiB, and a page can send 248 KiB");
  expect(refusal.textContent).toContain("countersign policy publish FOLDER --reason WHY");
  expect(area.value).toBe(large);
  expect(screen.queryByRole("button", { name: "Propose it" })).toBeNull();
  // Longer than it takes until a draft is examined.
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(examined).toBe(1);
  fireEvent.change(area, { target: { value: "short again" } });
  await vi.waitFor(() => expect(examined).toBe(2), 3000);
  expect(screen.queryByText("This draft is too large to be sent from a page")).toBeNull();
  expect(screen.getByRole("button", { name: "Propose it" })).toBeTruthy();
});

test("a policy in files is said to be there, and a draft becomes a patch", async () => {
  active = { ...active, source: "files" };
  answer = { outcome: "files", check: { faults: [], rules: 1 }, patch: "--- a/default.cedar" };
  await proposeChange();
  expect(await screen.findByText("--- a/default.cedar")).toBeTruthy();
  expect(screen.getByText("This gateway keeps its policy in files")).toBeTruthy();
});

test("the history goes on where the last page of it ended", async () => {
  const before: unknown[] = [];
  gateway.handlers["policy/history"] = (params) => {
    before.push(params.before);
    const at = "2026-01-02T03:04:05.000Z";
    return params.before === undefined
      ? { versions: [{ index: 9, version: "v1", at, signers: [] }], next: 9 }
      : { versions: [{ index: 3, version: "v0", at, signers: ["usr_a"], reason: "the <b>first</b>" }] };
  };
  openConsole(gateway, "/policy/editor");
  await userEvent.click(await screen.findByRole("button", { name: "Show earlier versions" }));
  expect(await screen.findByText("the <b>first</b>")).toBeTruthy();
  expect(before).toEqual([undefined, 9]);
  expect(screen.queryByRole("button", { name: "Show earlier versions" })).toBeNull();
  expect(screen.getByRole("list", { name: "Versions, newest first" }).children).toHaveLength(2);
});

test("who signed a version is said by name, and by id where nobody has that name any more", async () => {
  const at = "2026-01-02T03:04:05.000Z";
  gateway.handlers["people/list"] = () => ({
    people: [{ id: "usr_a", name: "Ada", profile: "operator", suspended: false, passkeys: 1, sessions: 0 }],
  });
  gateway.handlers["policy/history"] = () => ({
    versions: [{ index: 9, version: "v1", at, signers: ["usr_a", "usr_gone"], reason: "so" }],
  });
  openConsole(gateway, "/policy/editor");
  expect(await screen.findByText("Ada, usr_gone")).toBeTruthy();
});

test("of a version that came back, only the newest entry is in force", async () => {
  const at = "2026-01-02T03:04:05.000Z";
  const entry = (index: number, version: string) => ({ index, version, at, signers: [] });
  gateway.handlers["policy/history"] = () => ({ versions: [entry(7, "v1"), entry(5, "v0"), entry(2, "v1")] });
  openConsole(gateway, "/policy/editor");
  const list = await screen.findByRole("list", { name: "Versions, newest first" });
  const said = [...list.children].map(({ textContent }) => textContent ?? "");
  expect(said.map((text) => text.includes("in force"))).toEqual([true, false, false]);
  expect(said.map((text) => text.includes("Go back to it"))).toEqual([false, true, false]);
});

test("a draft runs in shadow, with each call that it decides otherwise, until it is stopped", async () => {
  const example = { conversationId: "cnv_1", callId: "call-7", tool: "peek" };
  const counts = { judged: 5, unjudged: 2, unlike: 1, behind: true };
  const changes = [{ change: "newlyRefused", count: 3, examples: [example] }];
  const shadow = { shadowId: "shd_1", version: "f".repeat(64), at: "2026-01-02T03:04:05.000Z", ...counts, changes };
  let running = false;
  gateway.handlers["policy/shadow"] = () => (running ? { shadow } : {});
  gateway.handlers["policy/start-shadow"] = ({ why, documents }) => {
    expect([why, documents]).toEqual(["to see", [{ name: "default.cedar", text: "first and mine" }]]);
    running = true;
    return { shadow };
  };
  gateway.handlers["policy/stop-shadow"] = () => {
    running = false;
    return { shadow };
  };
  openConsole(gateway, "/policy/editor");
  await userEvent.type(await screen.findByLabelText("Text of default.cedar"), " and mine");
  await userEvent.click(screen.getByText("Run it in shadow first"));
  await userEvent.type(screen.getByLabelText("Why it is tried"), "to see");
  await userEvent.click(screen.getByRole("button", { name: "Run it in shadow" }));
  expect(await screen.findByText("Of 5 calls it decides 3 otherwise.")).toBeTruthy();
  await userEvent.click(screen.getByText("3 newly refused"));
  const link = screen.getByText("call-7").closest("a");
  expect(link?.getAttribute("href")).toContain("/policy/explain?conversation=cnv_1&call=call-7");
  for (const told of ["and 2 more", "Calls that cannot be judged again: 2."])
    expect(screen.getByText(told)).toBeTruthy();
  expect(screen.getByText("The record does not come out as it stands")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Stop it" }));
  await vi.waitFor(() => expect(screen.queryByText("In shadow")).toBeNull());
});
