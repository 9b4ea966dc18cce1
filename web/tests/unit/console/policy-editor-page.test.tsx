// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
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
