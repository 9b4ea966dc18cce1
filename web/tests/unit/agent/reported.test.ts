import { describe, expect, test } from "vitest";
import { withoutFalseClaims } from "../../../src/agent/claims.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly contexts: readonly { readonly message: string; readonly result: string }[];
  readonly claims: { readonly before: readonly string[]; readonly after: readonly string[] };
  readonly passes: readonly string[];
  readonly told: readonly { readonly says: string; readonly kept: string }[];
  readonly harmless: Record<"before" | "after", readonly { readonly says: string; readonly result?: string }[]>;
}

const { contexts, claims, passes, told, harmless } = readVectors<Vectors>("reported-acts");
const CLAIMS = [...claims.before, ...claims.after];
const HARMLESS = [...harmless.before, ...harmless.after];
const TOOLS = [
  { name: "read_file", category: "read" },
  { name: "move_file", category: "write" },
] as const;

function keptOf(text: string, message: string, content: string, tool = "read_file"): string {
  const call = { id: "c", name: tool, arguments: { path: "diary.txt" } };
  const result = { outcome: "ok", content, trust: "untrusted", truncated: false } as const;
  const closed = content === "" ? [] : [{ call, result }];
  return withoutFalseClaims(text, { message, closed, earlier: [], tools: TOOLS });
}

describe("a report of an act needs a record, also where no act was asked for", () => {
  test.each(contexts)("$message", ({ message, result }) => {
    expect(CLAIMS.filter((claim) => keptOf(claim, message, result) === claim)).toEqual(passes);
  });
});

test.each(["what does mail/ben.txt say?", "thanks", "when was it?"])(
  "what a result says and what reports no act is shown: %s",
  (message) => {
    expect(HARMLESS.filter(({ says, result = "none" }) => keptOf(says, message, result) !== says)).toEqual([]);
  },
);

test.each([
  ["The file was renamed.", "The file was renamed."],
  ["The list has been updated.", "The list has been updated."],
  ["The email has been sent to Ana.", ""],
  ["The list now has milk.", "The list now has milk."],
])("beside a change that was made only another kind of act is a claim: %s", (text, kept) => {
  expect(keptOf(text, "thanks", "moved", "move_file")).toBe(kept);
});

test("a text that was asked for may tell of acts, and a long text is a draft", () => {
  const [sent, long] = ["The letter has been sent.", `The letter has been sent. ${"It rained. ".repeat(20)}`.trim()];
  expect(keptOf(sent, "write a poem about a letter", "")).toBe(sent);
  expect(keptOf(long, "thanks", "")).toBe(long);
});

test.each(told)("what opens a sentence and who does it is looked at: $says", ({ says, kept }) => {
  expect(keptOf(says, "thanks", "")).toBe(kept);
});
