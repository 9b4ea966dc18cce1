import { expect, test } from "vitest";
import { meantIn } from "../../../src/agent/called-names.ts";
import { gatheringStep } from "../../../src/agent/gathered-step.ts";
import { afterNames, isNamesCall, namesCall } from "../../../src/agent/gathering.ts";
import type { LaneInput } from "../../../src/agent/lane.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import { progressOf } from "../../../src/agent/turn-progress.ts";
import type { Outcome, ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

type Closed = [tool: string, asked: string, content: string, outcome?: Outcome, truncated?: boolean];

const { tools, names, meant, steps } = readVectors<{
  tools: [ToolDescriptor, ToolDescriptor, ToolDescriptor];
  names: { wish: string; looks: boolean }[];
  meant: { wish: string; paths: string[]; meant: [string, string[]] | null }[];
  steps: {
    name: string;
    wish: string;
    paths: string[];
    calls: Closed[];
    most: number;
    cut: boolean;
    gives: [string, Record<string, string>][] | string | null;
  }[];
}>("gathering");
const [search, reader, log] = tools;
const WISH = "which bills are unpaid?";

function closed(...[tool, asked, content, outcome = "ok", truncated = false]: Closed): ToolMessage {
  const call = { id: "c", name: tool, arguments: { [tool === "read_file" ? "path" : "query"]: asked } };
  return { role: "tool", turnId: "t", call, result: { outcome, content, trust: "untrusted", truncated } };
}

test.each(names)("names are looked at for questions that they may answer: $wish", ({ wish, looks }) => {
  expect(namesCall(wish, tools)).toEqual(looks ? { name: "search_files", arguments: { query: "*" } } : null);
});

test.each(meant)("a question calls files and folders by their names: $wish", ({ wish, paths, meant: found }) => {
  expect(meantIn(wish, paths)).toEqual(found === null ? null : { folder: found[0], files: found[1] });
});

test.each(steps)("what is called is read and answers: $name", ({ wish, paths, calls, most, cut, gives }) => {
  const look = closed("search_files", "*", `${paths.join("\n")}${cut ? "\n…[there was too much]" : ""}`);
  const given = afterNames(
    wish,
    look,
    calls.map((each) => closed(...each)),
    tools,
    most,
  );
  const expected = Array.isArray(gives) ? gives.map(([name, args]) => ({ name, arguments: args })) : gives;
  expect(given).toEqual(expected);
});

test("nobody is asked for a look at the names", () => {
  expect(namesCall(WISH, [{ ...search, permission: "consent" }, reader, log])).toBeNull();
  expect(namesCall(WISH, [search, { ...reader, permission: "consent" }])).toBeNull();
  expect(namesCall(WISH, [search])).toBeNull();
  expect(namesCall(WISH, [reader, log])).toBeNull();
});

test("a look at the names is known by its query", () => {
  expect(isNamesCall(closed("search_files", "*", ""), tools)).toBe(true);
  expect(isNamesCall(closed("search_files", "bill", ""), tools)).toBe(false);
  expect(isNamesCall(closed("read_file", "*", ""), tools)).toBe(false);
  expect(isNamesCall(closed("search_files", "*", ""), [reader, log])).toBe(false);
});

test("a wish that begins with a surer call, or is still to be taken apart, looks at no names", () => {
  const step = { name: "read_file", arguments: { path: "a.txt" } };
  const input = { messages: [], turnId: "t", tools, actions: null, mayCall: true } as unknown as LaneInput;
  const state = progressOf([], "t");
  const names = [{ name: "search_files", arguments: { query: "*" } }];
  expect(gatheringStep(input, state, WISH, () => null)).toEqual(names);
  expect(gatheringStep(input, state, WISH, () => step)).toBeNull();
  expect(gatheringStep(input, state, `${WISH} and then which letters are new?`, () => null)).toBeNull();
  expect(gatheringStep(input, state, "compare the cake, and then the soup", () => null)).toEqual(names);
});
