import { expect, test } from "vitest";
import { answerValue } from "../../../src/agent/looked-up.ts";
import { planQueries } from "../../../src/agent/plan-questions.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly files: Readonly<Record<string, string>>;
  readonly cases: readonly {
    readonly name: string;
    readonly asked: string;
    readonly file: string;
    readonly answer: string | null;
  }[];
  readonly plans: readonly { readonly asked: string; readonly queries: readonly string[] }[];
}

const vectors = readVectors<Vectors>("looked-up");
const sourceOf = (name: string, whole = true) => ({ name, text: vectors.files[name] ?? "", whole, hasLines: true });

test.each(vectors.cases)("the value that a question asks of a file is looked up: $name", ({ asked, file, answer }) => {
  expect(answerValue(asked, sourceOf(file))).toBe(answer);
});

test.each(vectors.plans)("a question of plans shows what to look for: $asked", ({ asked, queries }) => {
  expect(planQueries(asked)).toEqual(queries);
});

test("a part of a file is no file", () => {
  expect(answerValue("what's the guest password?", sourceOf("wifi.txt", false))).toBeNull();
});
