import { expect, test } from "vitest";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import { valuesElsewhere } from "../../../src/agent/placed-values.ts";
import type { Outcome } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface Case {
  readonly name: string;
  readonly question: string;
  readonly says: string;
  readonly results: readonly { readonly path: string; readonly outcome?: Outcome; readonly content: string }[];
  readonly elsewhere: readonly string[];
}

const { cases } = readVectors<{ readonly cases: readonly Case[] }>("placed-values");

test.each(cases)("a number has to stand with what was asked about: $name", ({ question, says, results, elsewhere }) => {
  const closed = results.map(
    ({ path, outcome = "ok", content }, number): ToolMessage => ({
      role: "tool",
      turnId: "trn_1",
      call: { id: `c${number}`, name: "read_file", arguments: { path } },
      result: { outcome, content, trust: "untrusted", truncated: false },
    }),
  );
  expect(valuesElsewhere(says, question, closed)).toEqual(elsewhere);
});
