import { expect, test } from "vitest";
import { withOpenRead } from "../../../src/agent/open-readings.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly files: Readonly<Record<string, string>>;
  readonly cases: readonly {
    readonly name: string;
    readonly say: string;
    readonly file: string;
    readonly read: string;
  }[];
}

const { files, cases } = readVectors<Vectors>("open-readings");

test.each(cases)("what is still open is asked for as what is not done: $name", ({ say, file, read }) => {
  expect(withOpenRead(say, { name: file, text: files[file] ?? "", whole: true, hasLines: true })).toBe(read);
});
