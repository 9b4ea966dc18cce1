import { expect, test } from "vitest";
import { isBesideQuestion } from "../../../src/agent/pertinent.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly files: Readonly<Record<string, string>>;
  readonly cases: readonly {
    readonly name: string;
    readonly asked: string;
    readonly says: string;
    readonly file: string;
    readonly beside: boolean;
  }[];
}

const vectors = readVectors<Vectors>("pertinent");
const sourceOf = (name: string, hasLines = true) => ({ name, text: vectors.files[name] ?? "", whole: true, hasLines });

test.each(vectors.cases)("an answer that is none to its question is known: $name", ({ says, asked, file, beside }) => {
  expect(isBesideQuestion(says, asked, sourceOf(file))).toBe(beside);
});

test("what is no file is left to others", () => {
  expect(isBesideQuestion("Birgit", "what is the wifi password?", sourceOf("home/wifi.md", false))).toBe(false);
});
