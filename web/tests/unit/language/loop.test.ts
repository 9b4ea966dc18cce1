import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import german from "../../../../loop/copy.de.json" with { type: "json" };
import words from "../../../../loop/copy.json" with { type: "json" };
import prompts from "../../../../loop/prompts.json" with { type: "json" };
import { translator } from "../../../src/agent/german-words.ts";
import catalogue from "../../../src/language/de/loop.ts";

type Texts = { readonly [name: string]: string | Texts };

const english = { says: words.says, outcomes: words.outcomes, fixed: prompts.report.fixed };
const inGerman = translator(catalogue);

/** Each text of a tree by the way to it. */
function flat(texts: Texts, way = ""): [string, string][] {
  return Object.entries(texts).flatMap(([name, text]) =>
    typeof text === "string" ? [[`${way}${name}`, text]] : flat(text, `${way}${name}.`),
  );
}

function blanksOf(text: string): string[] {
  return [...new Set(text.match(/\{\w+\}/g))].toSorted();
}

/** Parts of the loop's sentences that are long enough to be known by themselves. */
const TELLING = flat(english)
  .flatMap(([, text]) => text.split(/\{\w+\}/))
  .map((part) => part.trim())
  .filter((part) => part.length > 16 && part !== words.says.workspace);

function englishIn(text: string): string[] {
  const outside = text.replaceAll(/^(`{3,})\n[\s\S]*?\n\1$/gm, "").split("\n");
  return TELLING.filter((part) => outside.some((line) => line.includes(part)));
}

const SAID = ["says", "sentence", "answer", "kept", "leftOpen", "notice", "said"];

/** Every text that stands under one of these names anywhere in a value. */
function textsIn(value: unknown, name = ""): string[] {
  if (typeof value === "string") return SAID.includes(name) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => textsIn(each, Array.isArray(value) ? name : key));
}

const SAMPLES: Readonly<Record<string, string>> = {
  tool: "`write_file`",
  why: ": no such file.",
  count: "13",
  rest: "`delete a.txt`, `say why`",
  names: "`a.txt`, `b.txt` and `c.txt`",
  place: "`notes`",
  noun: "rows",
  sign: "≈",
};

test("every sentence of the loop has a German one with the same blanks, and none is left of one that is gone", () => {
  const theirs = new Map(flat(german));
  expect([...theirs.keys()].toSorted()).toEqual(
    flat(english)
      .map(([name]) => name)
      .toSorted(),
  );
  const other = flat(english).filter(
    ([name, text]) => blanksOf(text).join() !== blanksOf(theirs.get(name) ?? "").join(),
  );
  expect(other).toEqual([]);
});

test("every sentence is read in German with what stands in its blanks", () => {
  const parts = new Set([
    ...["line", "word", "row", "entry", "file", "folder"].flatMap((noun) => [`says.${noun}One`, `says.${noun}Many`]),
    ...["workspace", "totalsLeftOut", "unheard", "endedBefore", "endedDuring", "earlierFailed", "importedTurn"].map(
      (name) => `says.${name}`,
    ),
  ]);
  const sample = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => SAMPLES[name] ?? `some ${name}`);
  const theirs = new Map(flat(german));
  for (const [name, text] of flat(english)) {
    if (parts.has(name)) continue;
    const said = sample(theirs.get(name) ?? "")
      .replace(" and `", " und `")
      .replace("rows", "Tabellenzeilen");
    expect(inGerman(sample(text)), name).toBe(said);
  }
});

test("no sentence of the loop is left in English in anything that it says in the vectors", () => {
  const folder = "../tests/vectors/agent/";
  const said = readdirSync(folder).flatMap((file) => textsIn(JSON.parse(readFileSync(folder + file, "utf8"))));
  const own = said.filter((text) => englishIn(text).length > 0);
  expect(own.length).toBeGreaterThan(80);
  expect(own.map(inGerman).filter((text) => englishIn(text).length > 0)).toEqual([]);
});

test.each([
  ["3 rows (`costs.csv`, lines 2–4):", "3 Tabellenzeilen (`costs.csv`, Zeilen 2–4):"],
  ["1 row (`costs.csv`, line 2, column `amount`)", "1 Tabellenzeile (`costs.csv`, Zeile 2, Spalte `amount`)"],
  [
    "1 + 2 = 3 (`a.csv`, lines 2–3, column `line 2`). A line that sums up others is left out.",
    "1 + 2 = 3 (`a.csv`, Zeilen 2–3, Spalte `line 2`). Eine Zeile, die andere zusammenzählt, ist ausgelassen.",
  ],
  ["Petra wrote it. (`letters/a.txt`, line 1)", "Petra wrote it. (`letters/a.txt`, Zeile 1)"],
  ["There is nothing in the workspace.", "Es gibt nichts in dem Arbeitsbereich."],
  [
    "The gateway could not do that. Please try again. (the disk is full)",
    "Das Gateway konnte das nicht tun. Bitte versuchen Sie es noch einmal. (the disk is full)",
  ],
  [
    "`mail` was cancelled: if it had begun, it may have taken effect.",
    "`mail` wurde abgebrochen: wenn es begonnen hatte, hat es vielleicht gewirkt.",
  ],
  ["Stopped. What is done stands.\n\nNot done: `a`.", "Angehalten. Was getan ist, gilt.\n\nNicht getan: `a`."],
])("%s", (said, read) => {
  expect(inGerman(said)).toBe(read);
});

test("what stands in a file, and what a model says in other words, stays as it is", () => {
  const quoted = "Here it is:\n\n````\n```\nStopped. What is done stands.\n```\n````";
  expect(inGerman(quoted)).toBe(quoted);
  for (const text of ["The work is done.", "Not done: the dishes.", "many rows", "I stopped. What is done stands.", ""])
    expect(inGerman(text)).toBe(text);
});

test("what a blank holds is not read as a pattern or as another blank", () => {
  expect(inGerman("I did not read `$&{query}$1`, so I cannot say what is in it.")).toBe(
    "Ich habe `$&{query}$1` nicht gelesen, darum kann ich nicht sagen, was darin steht.",
  );
});

test("without a catalogue every text stays", () => {
  expect(translator({})("Stopped. What is done stands.")).toBe("Stopped. What is done stands.");
});
