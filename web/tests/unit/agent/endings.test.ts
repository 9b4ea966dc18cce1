import { expect, test } from "vitest";
import { answerEnding, endingIn } from "../../../src/agent/endings.ts";
import { namesFor } from "../../../src/agent/further.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import { misreadsRow } from "../../../src/agent/misreading.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

/* Files by their ending, and answers that mix up rows, by the vectors that the gateway's tests read too. */

interface Vectors {
  readonly tools: Pick<ToolDescriptor, "name" | "description" | "category" | "paramSchema">[];
  readonly wishes: { wish: string; ending: [string, string] | null; call: Record<string, string> | null }[];
  readonly answers: {
    name: string;
    wish: string;
    call: Record<string, string>;
    content: string;
    says: string | null;
  }[];
  readonly rows: { name: string; answer: string; question: string; file: string; text: string; misreads: boolean }[];
}

const vectors = readVectors<Vectors>("endings");
const { tools } = vectors;

test.each(vectors.wishes)("a wish for files of an ending is a search for names: $wish", ({ wish, ending, call }) => {
  const found = endingIn(wish);
  expect(found && [found.ending, found.folder]).toEqual(ending);
  expect(namesFor(wish, tools)?.arguments ?? null).toEqual(call);
});

test("without a tool that takes a pattern of names none is made", () => {
  const plain = tools.map((tool) => ({ ...tool, description: "Find files by their text." }));
  expect(namesFor("how many pdf files are there", plain)).toBeNull();
  expect(namesFor("how many pdf files are there", [])).toBeNull();
});

test.each(vectors.answers)(
  "how many files have an ending is counted by code: $name",
  ({ wish, call, content, says }) => {
    const message: ToolMessage = {
      role: "tool",
      turnId: "t",
      call: { id: "c", name: "search_files", arguments: call },
      result: { outcome: "ok", content, trust: "untrusted", truncated: false },
    };
    expect(answerEnding(wish, message)).toBe(says);
  },
);

test.each(vectors.rows)("an answer out of another row than the one asked for is seen: $name", (each) => {
  const source = { name: each.file, text: each.text, whole: true, hasLines: each.file !== "" };
  expect(misreadsRow(each.answer, each.question, source)).toBe(each.misreads);
});
