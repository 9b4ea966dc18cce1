// Requirement ids: 003-01, 003-04, 003-05, 003-08, 003-09.
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { play, type RunnerVectors } from "./trace.ts";
import { readVectors, vectorsAt } from "./vectors.ts";

const vectors = readVectors<RunnerVectors>("runner");

test.each(vectors.cases)("both languages do the same: $name", async (each) => {
  expect(await play(each, vectors)).toEqual(each.trace);
});

/** After a change of the loop that is meant: RECORD=1 writes down what it does now, for eyes to check before Python follows. */
test.runIf(process.env.RECORD === "1")("what the loop does is written down", async () => {
  const cases = await Promise.all(vectors.cases.map(async (each) => ({ ...each, trace: await play(each, vectors) })));
  writeFileSync(vectorsAt("runner"), write({ ...vectors, cases }));
});

/** The vectors with every step of a trace on a line of its own. */
function write({ cases, ...rest }: RunnerVectors): string {
  const written = cases.map(({ trace, ...script }) => {
    const steps = trace.map((step) => `    ${JSON.stringify(step)}`).join(",\n");
    return `  ${JSON.stringify(script).slice(0, -1)},"trace":[\n${steps}\n  ]}`;
  });
  return `${JSON.stringify(rest).slice(0, -1)},\n"cases":[\n${written.join(",\n")}\n]}\n`;
}
