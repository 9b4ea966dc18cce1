// @vitest-environment jsdom
import { cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { formOf } from "../../../src/features/console/policy/explain/schema-fields.ts";
import { nameDifference, nameMinute, readMinute } from "../../../src/features/console/policy/explain/sentences.ts";
import type { CallExplanation } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;
let asked: unknown[];
let told: CallExplanation;

const SCHEMA = {
  type: "object",
  required: ["path"],
  properties: {
    path: { type: "string", description: "A <b>file</b>" },
    lines: { type: "integer" },
    mode: { enum: ["all", "head"] },
    deep: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
  },
};

beforeEach(() => {
  gateway = new FakeGateway();
  asked = [];
  told = {
    version: "ab".repeat(32),
    tool: "read_file",
    category: "read",
    profile: "guest",
    person: "usr_a",
    facts: { path: "work/a" },
    tainted: true,
    label: "public",
    mode: "consent",
    rules: [
      {
        id: "own.ask",
        why: "Ask <i>first</i>",
        file: "own.cedar",
        line: 4,
        text: '@id("own.ask")\npermit <script>',
        obliges: {},
      },
      { id: "policy.failed", why: "A rule failed" },
    ],
    changes: [
      { what: "profile", value: "anonymous", mode: "forbidden", rules: [] },
      { what: "path", value: "notes/<x>", mode: "auto", rules: ["read.auto"] },
    ],
  };
  gateway.handlers["policy/explain"] = (params) => {
    asked.push(params);
    return told;
  };
  gateway.handlers["policy/describe"] = () => ({
    version: "v",
    rules: [],
    profiles: [],
    tools: [
      {
        recovery: "pure",
        modes: { operator: "auto", guest: "auto", anonymous: "auto" },
        descriptor: {
          name: "read_file",
          category: "read",
          description: "",
          digest: "",
          interfaceId: "",
          methodName: "",
          permission: "auto",
          source: "builtin",
          paramSchema: SCHEMA,
        },
      },
    ],
  });
});

afterEach(cleanup);

test("a call that was made is explained with the texts of its rules, as text", async () => {
  told = { ...told, now: "auto" };
  openConsole(gateway, "/policy/explain?conversation=cnv_1&call=c1");
  const shown = await screen.findByRole("region", { name: "Explanation" });
  expect(asked).toEqual([{ call: { conversationId: "cnv_1", callId: "c1" } }]);
  for (const words of [
    "read_file: Asks first",
    "Ask <i>first</i>",
    "own.cedar, line 4",
    "permit <script>",
    "For a visitor: Never runs no rule permits it",
    "With the path notes/<x>: Runs by itself read.auto",
    "Under the version in force it would be “Runs by itself”",
    "that has read untrusted content",
  ]) {
    expect(shown.textContent).toContain(words);
  }
});

test("an imagined one is asked by a form of its tool's schema", async () => {
  openConsole(gateway, "/policy/explain");
  await userEvent.type(await screen.findByLabelText("Tool"), "read_file");
  await userEvent.type(screen.getByLabelText("path"), "work/a");
  await userEvent.selectOptions(screen.getByLabelText("mode, optional"), "head");
  const further = screen.getByLabelText("Further arguments, as JSON");
  await userEvent.clear(further);
  await userEvent.type(further, "no");
  expect(screen.getByText("This is no JSON object.")).toBeTruthy();
  await userEvent.clear(further);
  await userEvent.click(further);
  await userEvent.paste('{"tags": ["a"]}');
  await userEvent.selectOptions(screen.getByLabelText("Profile"), "guest");
  await userEvent.selectOptions(screen.getByLabelText("Label of the conversation"), "high");
  await userEvent.selectOptions(screen.getByLabelText("Day"), "Sunday");
  await userEvent.type(screen.getByLabelText("Person, optional"), "usr_b");
  await userEvent.click(screen.getByLabelText("It has read untrusted content"));
  const time = screen.getByLabelText("Time");
  await userEvent.clear(time);
  await userEvent.type(time, "25:00");
  await userEvent.click(screen.getByRole("button", { name: "Explain it" }));
  expect(asked).toEqual([]);
  await userEvent.clear(time);
  await userEvent.type(time, "18:30");
  await userEvent.click(screen.getByRole("button", { name: "Explain it" }));
  const shown = await screen.findByRole("region", { name: "Explanation" });
  expect(within(shown).getByText("Ask <i>first</i>")).toBeTruthy();
  expect(asked).toEqual([
    {
      imagined: {
        tool: "read_file",
        arguments: { path: "work/a", mode: "head", tags: ["a"] },
        profile: "guest",
        person: "usr_b",
        label: "high",
        tainted: true,
        minuteOfDay: 1110,
        weekday: 7,
      },
    },
  ]);
});

test("what the gateway refuses is said, and a name that no tool has", async () => {
  gateway.handlers["policy/explain"] = () => {
    throw new RpcError(-32003, "the record does not hold it", "not_found");
  };
  openConsole(gateway, "/policy/explain?conversation=cnv_1&call=c1");
  expect((await screen.findByRole("alert")).textContent).toContain("does not hold it");
  cleanup();
  told = { ...told, facts: {}, rules: [], changes: [] };
  gateway.handlers["policy/explain"] = () => told;
  openConsole(gateway, "/policy/explain");
  await userEvent.type(await screen.findByLabelText("Tool"), "read");
  expect(screen.getByText("No tool has that name yet.")).toBeTruthy();
  await userEvent.type(screen.getByLabelText("Tool"), "_file");
  await userEvent.click(screen.getByRole("button", { name: "Explain it" }));
  const shown = await screen.findByRole("region", { name: "Explanation" });
  expect(shown.textContent).toContain("No rule permits it, and what no rule permits is forbidden.");
  expect(shown.textContent).toContain("Nothing else about it that rules look at.");
});

test("a schema of any shape gives a form, and words for each change", () => {
  expect(formOf(SCHEMA).fields.map(({ name, kind, required }) => [name, kind, required])).toEqual([
    ["path", "text", true],
    ["lines", "integer", false],
    ["mode", "choice", false],
  ]);
  expect(formOf(SCHEMA).others).toEqual(["deep", "tags"]);
  for (const odd of [undefined, null, 3, [], { properties: [] }, { properties: { a: 1 }, required: "a" }]) {
    expect(formOf(odd).fields).toEqual([]);
  }
  expect(
    [
      ["taint", 1],
      ["taint", 0],
      ["label", "high"],
      ["recursive", true],
      ["recursive", false],
      ["minuteOfDay", 359],
      ["weekday", 7],
      ["toolsUsed", "mail"],
      ["callsInTurn", 3],
      ["callsInSession", 4],
      ["host", "a.b"],
    ].map(([what, value]) => nameDifference({ what: String(what), value })),
  ).toEqual([
    "After untrusted content",
    "Before any untrusted content",
    "In a conversation with the label high",
    "If it goes into folders",
    "If it does not go into folders",
    "At 05:59",
    "On a Sunday",
    "After the tool mail ran",
    "As call 3 of its turn",
    "As call 4 of its session",
    "With the host a.b",
  ]);
  expect([nameMinute(0), readMinute("23:59"), readMinute("7:00")]).toEqual(["00:00", 1439, undefined]);
});
