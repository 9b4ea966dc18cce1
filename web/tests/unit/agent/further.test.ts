import { expect, test } from "vitest";
import { findingIn } from "../../../src/agent/finding.ts";
import {
  answeringCall,
  askedOfFile,
  furtherCall,
  leftOpen,
  lookingFor,
  pickedShown,
  pointedReading,
  resolved,
} from "../../../src/agent/further.ts";
import type { ProposedCall } from "../../../src/agent/lane.ts";
import { mentionedQuery } from "../../../src/agent/mentioned.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import { withDay } from "../../../src/agent/papers.ts";
import type { Outcome, ToolDescriptor } from "../../../src/protocol/generated.ts";
import { TODAY } from "./scripted.ts";
import { readVectors } from "./vectors.ts";

type Given = ProposedCall["arguments"];
type Closed = [name: string, given: Given, content: string, outcome?: Outcome];
type Call = [name: string, given: Given];

type World = "auto" | "other" | "meaning" | "only meaning";
type Tool = Pick<ToolDescriptor, "name" | "description" | "category" | "paramSchema">;

interface Step {
  readonly name: string;
  readonly wish: string;
  readonly with?: World;
  readonly calls: Closed[];
  readonly next: Call | null;
  readonly leftOpen?: string | null;
  readonly answering?: number;
  readonly asked?: string;
}

interface Vectors {
  readonly tools: Tool[];
  readonly meaningTool: Tool;
  readonly otherTool: Tool;
  readonly findings: { wish: string; finding: [string, string, string] | null }[];
  readonly mentioned: { wish: string; query: string }[];
  readonly steps: Step[];
  readonly days: { wish: string; told: string }[];
  readonly pointed: { name: string; wish: string; calls: Closed[]; call: Call | null }[];
  readonly shown: { name: string; wish: string; calls: Closed[]; call: Call | null }[];
  readonly resolved: { name: string; call: Call; calls: Closed[]; resolved: Call }[];
}

const vectors = readVectors<Vectors>("further");
const { tools } = vectors;

function offered(world: World | undefined): readonly Tool[] {
  if (world === undefined) return tools;
  if (world === "auto") return tools.map((tool) => ({ ...tool, permission: "auto" as const }));
  if (world === "other") return [...tools, vectors.otherTool];
  const kept = world === "meaning" ? tools : tools.filter(({ name }) => name !== "search_files");
  return [...kept, vectors.meaningTool];
}

function closed([name, given, content, outcome = "ok"]: Closed): ToolMessage {
  const call = { id: "c", name, arguments: given };
  return { role: "tool", turnId: "t", call, result: { outcome, content, trust: "untrusted", truncated: false } };
}

const told = (call: ProposedCall | null) => call && [call.name, call.arguments];

test.each(vectors.findings)("a wish to find and be told shows both halves: $wish", ({ wish, finding }) => {
  const found = findingIn(wish);
  expect(found && [found.query, found.folder, found.asked]).toEqual(finding);
});

test.each(vectors.mentioned)("a wish for the files that mention something tells what: $wish", ({ wish, query }) => {
  expect(mentionedQuery(wish)).toBe(query);
});

test.each(vectors.steps)("a search and a listing lead to the file that answers: $name", (each) => {
  const calls = each.calls.map(closed);
  const known = offered(each.with);
  if (calls.length === 0) {
    expect(told(lookingFor(each.wish, known))).toEqual(each.next);
    return;
  }
  expect(told(furtherCall(each.wish, calls, known))).toEqual(each.next);
  if (each.next !== null) return;
  expect(leftOpen(each.wish, calls)).toBe(each.leftOpen);
  expect(calls.indexOf(answeringCall(each.wish, calls, known))).toBe(each.answering);
  expect(askedOfFile(each.wish, calls.at(-1) as ToolMessage, known)).toBe(each.asked);
});

test.each(vectors.steps)("nothing but looking and reading ever follows: $name", (each) => {
  const changing = offered(each.with).map((tool) => ({ ...tool, category: "write" as const }));
  expect(lookingFor(each.wish, changing)).toBeNull();
  expect(furtherCall(each.wish, each.calls.map(closed), changing)).toBeNull();
  const reading = offered(each.with).map((tool) =>
    tool.name === "read_file" ? tool : { ...tool, category: "write" as const },
  );
  expect(lookingFor(each.wish, reading)).toBeNull();
});

test.each(vectors.pointed)("it can be the one file that was found: $name", ({ wish, calls, call }) => {
  expect(told(pointedReading(wish, calls.map(closed), tools))).toEqual(call);
});

test.each(vectors.resolved)("a bare name is read where the listing shows it: $name", (each) => {
  const [name, given] = each.call;
  expect(told(resolved({ name, arguments: given }, each.calls.map(closed), tools))).toEqual(each.resolved);
});

test.each(vectors.shown)(
  "a file can be meant by its place in a list that was shown: $name",
  ({ wish, calls, call }) => {
    expect(told(pickedShown(wish, calls.map(closed), tools))).toEqual(call);
    const unread = tools.filter(({ name }) => name !== "read_file");
    expect(pickedShown(wish, calls.map(closed), unread)).toBeNull();
  },
);

test.each(vectors.days)("a paper may be told by how far its day is away: $wish", (each) => {
  expect(withDay(each.wish, TODAY)).toBe(each.told);
});
