// @vitest-environment jsdom
import { cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { PolicyProposed, PolicyText, SwitchDescription, SwitchDraft } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;
let active: PolicyText;
let switches: SwitchDescription[];
let draft: SwitchDraft;
let asked: unknown[];
let answer: PolicyProposed;

const HOSTS: SwitchDescription = {
  switch: "letHostsThrough",
  state: "off",
  takes: "hosts",
  file: "switch-let-hosts-through.cedar",
  arguments: [],
  text: "",
};
const DELETE: SwitchDescription = {
  switch: "neverDelete",
  state: "on",
  takes: "nothing",
  file: "switch-never-delete.cedar",
  arguments: [],
  text: '@id("switch.never-delete")\n<b>forbid</b>\u202e',
};
const EDITED: SwitchDescription = { ...DELETE, switch: "passkeyForWrites", state: "changedByHand", file: "mine.cedar" };

beforeEach(() => {
  gateway = new FakeGateway();
  active = { version: "v1", source: "database", documents: [{ name: "default.cedar", text: "first" }] };
  switches = [HOSTS, DELETE, EDITED];
  draft = {
    base: "v1",
    documents: [
      { name: "default.cedar", text: "first" },
      { name: "switch-let-hosts-through.cedar", text: "permit<script>" },
    ],
    amended: [
      { file: "cases/a.toml", about: "leaving asks", question: "operator tool", before: "consent", after: "auto" },
      { file: "cases/a.toml", about: "leaving never", question: "guest tool", before: "forbidden", after: "forbidden" },
    ],
    check: { faults: [], rules: 2, version: "v2", cases: { total: 3, failed: 1, failures: [] } },
  };
  asked = [];
  answer = { outcome: "files", check: draft.check, patch: "--- a/default.cedar" };
  const { handlers } = gateway;
  handlers["policy/overview"] = () => ({ version: "v1", scope: "everybody", assumesMoment: false, rows: [] });
  handlers["policy/get"] = () => active;
  handlers["policy/switches"] = () => ({ version: "v1", source: active.source, switches });
  handlers["policy/turn-switch"] = (params) => {
    asked.push(params);
    return draft;
  };
  handlers["policy/compare"] = () => ({ compared: 9, complete: true, loosens: true, differences: [], loosened: [] });
  handlers["policy/rehearse"] = () => ({
    version: "v2",
    judged: 3,
    unjudged: 0,
    unlike: 0,
    questionsBefore: 2,
    questionsAfter: 0,
    changes: [{ change: "questionRemoved", count: 2, examples: [] }],
  });
  handlers["policy/proposals"] = () => ({ proposals: [] });
  handlers["policy/propose"] = (params) => {
    asked.push(params);
    return answer;
  };
});

afterEach(cleanup);

async function open(): Promise<HTMLElement> {
  openConsole(gateway, "/policy");
  return await screen.findByRole("list", { name: "Switches" });
}

test("each switch says how it stands, and shows the rule that it wrote as text", async () => {
  const list = await open();
  expect(
    within(list)
      .getAllByRole("heading", { level: 3 })
      .map((each) => each.parentElement?.textContent),
  ).toEqual([
    "Let some hosts through without askingoff",
    "Never delete or overwriteon",
    "Take a passkey for every writechanged by hand",
  ]);
  const rule = within(list).getByLabelText("Rule of the switch: Never delete or overwrite");
  expect(rule.textContent).toContain("<b>forbid</b>U+202E");
  expect(list.textContent).toContain("Its rules in mine.cedar are not as the switch writes them");
  expect(within(list).queryByRole("button", { name: /Take a passkey for every write/ })).toBeNull();
});

test("turning one shows its rule, what it would have changed, and proposes exactly that", async () => {
  active = { ...active, source: "files" };
  const list = await open();
  expect(screen.getByText("This gateway keeps its policy in files")).toBeTruthy();
  const button = within(list).getByRole<HTMLButtonElement>("button", { name: /^Turn it on… \(Let some hosts/ });
  expect(button.disabled).toBe(true);
  await userEvent.type(within(list).getByLabelText("Hosts"), " docs.example.com {enter}{enter}b.example");
  await userEvent.click(button);
  const made = await screen.findByRole("region", { name: /^Draft of the switch/ });
  expect(asked).toEqual([{ switch: "letHostsThrough", on: true, arguments: ["docs.example.com", "b.example"] }]);
  expect(within(made).getByLabelText("switch-let-hosts-through.cedar: old and new lines").textContent).toContain(
    "permit<script>",
  );
  expect(made.textContent).toContain("“Asks first” becomes “Runs by itself”");
  expect(made.textContent).toContain("“Never runs” as before, by other rules");
  expect(made.textContent).toContain("Rows of the decision table do not hold");
  expect(await within(made).findByText("Over the last 7 days this removes 2 questions.")).toBeTruthy();
  expect(await within(made).findByText("It asks for less than the version in force")).toBeTruthy();
  await userEvent.click(within(made).getByRole("button", { name: "Propose it" }));
  expect(await screen.findByText("--- a/default.cedar")).toBeTruthy();
  expect(asked[1]).toEqual({
    base: "v1",
    reason: "Switch “Let some hosts through without asking” turned on",
    documents: draft.documents,
  });
  await userEvent.click(within(made).getByRole("button", { name: "Leave it as it is" }));
  expect(screen.queryByRole("region", { name: /^Draft of the switch/ })).toBeNull();
});

test("one that is on is turned off without arguments, and what the gateway refuses is said", async () => {
  const list = await open();
  await userEvent.click(within(list).getByRole("button", { name: /^Turn it off… \(Never delete/ }));
  expect(await screen.findByRole("region", { name: /^Draft of the switch/ })).toBeTruthy();
  expect(asked).toEqual([{ switch: "neverDelete", on: false }]);
  gateway.handlers["policy/turn-switch"] = () => {
    throw new RpcError(-32004, "write the host in its ASCII form", "switchArgument");
  };
  await userEvent.type(within(list).getByLabelText("Hosts"), "pple.com");
  await userEvent.click(within(list).getByRole("button", { name: /^Turn it on… \(Let some hosts/ }));
  expect((await within(list).findByRole("alert")).textContent).toContain("ASCII form");
});

test("who is no operator is asked nothing about switches", async () => {
  gateway.profile = "guest";
  gateway.handlers["policy/overview"] = () => ({ version: "v1", scope: "own", assumesMoment: false, rows: [] });
  openConsole(gateway, "/policy");
  expect(await screen.findByText("Version")).toBeTruthy();
  expect(screen.queryByRole("heading", { name: "Switches" })).toBeNull();
});
