import { expect, test } from "vitest";
import { isOfAnother } from "../../../src/agent/asked.ts";
import { answerFigure } from "../../../src/agent/figures.ts";
import { findingIn, type SoughtText } from "../../../src/agent/finding.ts";
import { withGivenText } from "../../../src/agent/given-text.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import { outcomeIn } from "../../../src/agent/outcomes.ts";
import { type FilePick, pickedFrom, pickedOf } from "../../../src/agent/picking.ts";
import { type ReadingTool, readingFor } from "../../../src/agent/reading.ts";
import { answerRows } from "../../../src/agent/row-answers.ts";
import { showChoices } from "../../../src/agent/row-choices.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

type Given = Record<string, unknown>;

interface Vectors {
  readonly today: string;
  readonly rows: {
    name: string;
    wish: string;
    source: string;
    text: string;
    whole: boolean;
    hasLines: boolean;
    answer: string | null;
  }[];
  readonly choices: {
    name: string;
    wish: string;
    source: string;
    text: string;
    hasLines: boolean;
    answer: string | null;
  }[];
  readonly figures: { name: string; wish: string; source: string; text: string; answer: string | null }[];
  readonly findings: { say: string; finding: SoughtText | null }[];
  readonly outcomes: { say: string; outcome: string[] | null }[];
  readonly given: { name: string; wish: string; schema: Given; arguments: Given; given: Given }[];
  readonly picks: {
    say: string;
    pick: FilePick;
    folder: string;
    names: string[];
    from: string | null;
    picked: string | null;
  }[];
  readonly another: {
    name: string;
    tool: ToolDescriptor;
    arguments: Given;
    wish: string;
    actions: string[];
    other: boolean;
  }[];
  readonly readings: { say: string; reads: string | null }[];
  readonly tools: ReadingTool[];
}

const vectors = readVectors<Vectors>("rows");

test.each(vectors.rows)("rows are told apart by what they are not and by their day: $name", (each) => {
  const { wish, source: name, text, whole, hasLines } = each;
  expect(answerRows(wish, { name, text, whole, hasLines }, vectors.today)).toBe(each.answer);
});

test.each(vectors.choices)("rows that code cannot choose are shown: $name", (each) => {
  const source = { name: each.source, text: each.text, whole: true, hasLines: each.hasLines };
  expect(showChoices(each.wish, source)).toBe(each.answer);
});

test.each(vectors.figures)("a number is worked out without the rows that are left out: $name", (each) => {
  const source = { name: each.source, text: each.text, whole: true, hasLines: true };
  expect(answerFigure(each.wish, source)).toBe(each.answer);
});

test.each(vectors.findings)("a paper is looked for by its day or in its folder: $say", ({ say, finding }) => {
  expect(findingIn(say)).toEqual(finding);
});

test.each(vectors.outcomes)("what is taken away is looked for in its folder: $say", ({ say, outcome }) => {
  const wish = outcomeIn(say);
  expect(wish && [wish.carry, wish.source, wish.kept, wish.target]).toEqual(outcome);
});

test.each(vectors.given)("a text that is given in full is written in full and without the rest: $name", (each) => {
  expect(withGivenText(each.arguments, each.schema, each.wish)).toEqual(each.given);
});

test.each(vectors.picks)("the newest paper is told by the days in names: $say $names.0", (each) => {
  const content = `x holds 2 entries:\n${each.names.map((name) => `- ${name} (9 bytes)\n`).join("")}`;
  const listing: ToolMessage = {
    role: "tool",
    turnId: "t",
    call: { id: "c", name: "list_directory", arguments: { path: each.folder } },
    result: { outcome: "ok", content, trust: "untrusted", truncated: false },
  };
  expect(pickedFrom(each.say)).toBe(each.from);
  expect(pickedOf(each.pick, each.say, listing)).toBe(each.picked);
});

test.each(vectors.another)("what another wish names is not taken away: $name", (each) => {
  expect(isOfAnother(each.arguments, each.tool, each.wish, each.actions)).toBe(each.other);
});

test.each(vectors.readings)("a file is read for some rows where nothing is done with them: $say", ({ say, reads }) => {
  expect(readingFor(say, vectors.tools)?.arguments.path ?? null).toBe(reads);
});
