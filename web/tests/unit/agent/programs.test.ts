import { expect, test } from "vitest";
import { answerCode, codeAsked, definingFiles, tellsPlaces, toldPlaces } from "../../../src/agent/code-asked.ts";
import { fieldsIn } from "../../../src/agent/fields.ts";
import { answerSwitch } from "../../../src/agent/switched.ts";
import { readVectors } from "./vectors.ts";

interface Asked {
  readonly name: string;
  readonly asked: string;
  readonly file: string;
  readonly answer: string | null;
}

const vectors = readVectors<{
  files: Record<string, string>;
  fields: { file: string; fields: unknown }[];
  asked: { asked: string; name: string }[];
  switches: Asked[];
  code: Asked[];
  places: { name: string; asked: string; found: string; files: string[]; answer: string | null }[];
}>("programs");

function sourceOf(name: string, whole = true): Parameters<typeof answerCode>[1] {
  return { name, text: vectors.files[name] ?? "", whole, hasLines: true };
}

test.each(vectors.fields)("a text has named values: $file", ({ file, fields }) => {
  expect(fieldsIn(vectors.files[file] ?? "", file)).toEqual(fields);
});

const codedName = (asked: string): string => codeAsked(asked)?.name ?? "";

test.each(vectors.asked)("a question may be about a name of a program: $asked", ({ asked, name }) => {
  expect(codedName(asked)).toBe(name);
});

test.each(vectors.switches)("whether something is on is read from its setting: $name", ({ asked, file, answer }) => {
  expect(answerSwitch(asked, sourceOf(file))).toBe(answer);
  expect(answerSwitch(asked, sourceOf(file, false))).toBeNull();
});

test.each(vectors.code)("what a name is stands in the lines of the program: $name", ({ asked, file, answer }) => {
  expect(answerCode(asked, sourceOf(file))).toBe(answer);
});

test.each(vectors.places)(
  "a search tells where a name is defined or used: $name",
  ({ asked, found, files, answer }) => {
    expect(definingFiles(codedName(asked) || "-", found)).toEqual(files);
    expect(toldPlaces(asked, found)).toBe(answer);
    expect(tellsPlaces(asked, found)).toBe(answer !== null);
  },
);
