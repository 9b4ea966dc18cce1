import { expect, test } from "vitest";
import { isMadeUp, narrowed, summaryOf } from "../../../src/agent/grounded.ts";
import { readVectors } from "./vectors.ts";

interface Asked {
  readonly name: string;
  readonly asked: string;
  readonly says: string;
  readonly file: string;
}

interface Vectors {
  readonly files: Readonly<Record<string, string>>;
  readonly madeUp: readonly (Asked & { readonly made: boolean })[];
  readonly narrowed: readonly (Asked & { readonly kept: string })[];
  readonly summaries: readonly (Asked & { readonly summary: string | null })[];
}

const vectors = readVectors<Vectors>("grounded");
const sourceOf = (name: string, hasLines = true) => ({ name, text: vectors.files[name] ?? "", whole: true, hasLines });

test.each(vectors.madeUp)("an answer with words that stand nowhere in its file is known: $name", (each) => {
  expect(isMadeUp(each.says, each.asked, sourceOf(each.file))).toBe(each.made);
});

test.each(vectors.narrowed)("an answer that copies a file is cut to what was asked: $name", ({ says, asked, kept }) => {
  expect(narrowed(says, asked)).toBe(kept);
});

test.each(vectors.summaries)("a summary that is none gives way to sentences of the file: $name", (each) => {
  expect(summaryOf(each.says, each.asked, sourceOf(each.file))).toBe(each.summary);
});

test("what is no file is left to the model", () => {
  const found = sourceOf("notes.txt", false);
  expect(isMadeUp("A holiday in Spain.", "what does it say?", found)).toBe(false);
  expect(summaryOf("A holiday in Spain.", "summarise notes.txt", found)).toBeNull();
});
