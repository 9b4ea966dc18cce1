import { expect, test } from "vitest";
import { hasWrongNumber, ownAnswer, withPlace } from "../../../src/agent/answers.ts";
import { cited, excerptOf } from "../../../src/agent/excerpts.ts";
import { answerFigure } from "../../../src/agent/figures.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import { fittingPassages, inventsNumber, missedLine, placeOf, repeatsQuestion } from "../../../src/agent/passages.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

type Call = [name: string, given: ToolMessage["call"]["arguments"]];

interface Vectors {
  readonly repeats: { name: string; answer: string; question: string; repeats: boolean }[];
  readonly missed: {
    name: string;
    answer: string;
    question: string;
    text: string;
    query: string;
    line: number | null;
  }[];
  readonly numbers: { name: string; answer: string; wish: string; call: Call; content: string; wrong: boolean }[];
  readonly figures: {
    name: string;
    wish: string;
    source: string;
    text: string;
    hasLines: boolean;
    answer: string | null;
  }[];
  readonly places: { name: string; answer: string; question: string; text: string; place: [number, number] | null }[];
  readonly passages: { name: string; question: string; text: string; room: number; fitting: string }[];
  readonly inventions: { name: string; answer: string; sources: string[]; invents: boolean }[];
  readonly excerpts: { name: string; text: string; shown: [string, number] }[];
  readonly citations: { name: string; of: string; lines: number[]; column: string; cited: string }[];
  readonly answers: { name: string; wish: string; call: Call; content: string; answer: string | null }[];
  readonly placed: { name: string; answer: string; wish: string; call: Call; content: string; said: string }[];
  readonly tools: Pick<ToolDescriptor, "name" | "category">[];
}

const vectors = readVectors<Vectors>("answers");

function closed([name, given]: Call, content: string): ToolMessage {
  const call = { id: "c", name, arguments: given };
  return { role: "tool", turnId: "t", call, result: { outcome: "ok", content, trust: "untrusted", truncated: false } };
}

test.each(vectors.figures)("a number is worked out where no doubt is left: $name", (each) => {
  const { wish, source, text, hasLines, answer } = each;
  expect(answerFigure(wish, { name: source, text, whole: true, hasLines })).toBe(answer);
});

test("nothing is worked out from a part of a result", () => {
  const part = { name: "a.txt", text: "x 1\ny 2", whole: false, hasLines: true };
  expect(answerFigure("what is the sum of a.txt?", part)).toBeNull();
});

test.each(vectors.places)("an answer stands in the lines that hold its words: $name", (each) => {
  const place = placeOf(each.answer, each.question, each.text);
  expect(place && [place.first, place.last]).toEqual(each.place);
});

test.each(vectors.passages)("of a long text the passages are kept that answer: $name", (each) => {
  expect(fittingPassages(each.text, each.question, each.room)).toBe(each.fitting);
});

test.each(vectors.inventions)("a number that no source holds is made up: $name", ({ answer, sources, invents }) => {
  expect(inventsNumber(answer, sources)).toBe(invents);
});

test.each(vectors.numbers)("a number is held against what the question speaks of: $name", (each) => {
  expect(hasWrongNumber(each.answer, each.wish, closed(each.call, each.content))).toBe(each.wrong);
});

test.each(vectors.repeats)("an answer says more than its question: $name", (each) => {
  expect(repeatsQuestion(each.answer, each.question)).toBe(each.repeats);
});

test.each(vectors.missed)("a line that the question points at is not passed over: $name", (each) => {
  expect(missedLine(each.answer, each.question, each.text, "", each.query)).toBe(each.line);
});

test.each(vectors.excerpts)("a content is shown as a block that it cannot end: $name", ({ text, shown }) => {
  const excerpt = excerptOf(text);
  expect([excerpt.text, excerpt.leftOut]).toEqual(shown);
});

test.each(vectors.citations)("a place is told in lines and ranges: $name", ({ of, lines, column, cited: told }) => {
  expect(cited(of, lines, column)).toBe(told);
});

test.each(vectors.answers)("the loop answers by itself what a small model words wrongly: $name", (each) => {
  expect(ownAnswer(closed(each.call, each.content), each.wish, vectors.tools, "2026-03-10")).toBe(each.answer);
});

test.each(vectors.placed)("a model's answer is given its place: $name", ({ answer, wish, call, content, said }) => {
  expect(withPlace(answer, wish, closed(call, content))).toBe(said);
});
