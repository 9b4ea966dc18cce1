import { expect, test } from "vitest";
import { apartQuery, doubtfulQuery, keptQuery, mayBeOwn, ownQueries } from "../../../src/agent/affairs.ts";
import { namedThing, recordQuery, tellsFigure } from "../../../src/agent/named.ts";
import { readVectors } from "./vectors.ts";

const { cases, doubtful, apart, kept, named, figures } = readVectors<{
  cases: { wish: string; queries: string[] }[];
  doubtful: { wish: string; query: string }[];
  apart: { wish: string; query: string }[];
  kept: { wish: string; query: string }[];
  named: { wish: string; query: string; name: string }[];
  figures: { text: string; tells: boolean }[];
}>("affairs");

test.each(cases)("a question about one's own affairs shows what to look for: $wish", ({ wish, queries }) => {
  expect(ownQueries(wish)).toEqual(queries);
});

test.each(doubtful)("a question that may be about the world as well shows what could be looked for: $wish", (each) => {
  expect(doubtfulQuery(each.wish)).toBe(each.query);
});

test.each([
  ["which plumber do i have", true],
  ["how many teapots are left", true],
  ["how many days are left", false],
  ["when am i free", false],
])("%s may be about the person's own things: %s", (question, isOwn) => {
  expect(mayBeOwn(question)).toBe(isOwn);
});

test.each(apart)("a word without an article may be the name of something here: $wish", ({ wish, query }) => {
  expect(apartQuery(wish)).toBe(query);
});

test.each(kept)("what only a record tells is looked for: $wish", ({ wish, query }) => {
  expect(keptQuery(wish)).toBe(query);
});

test.each(named)("what is told by whom it is for is looked for by the name: $wish", ({ wish, query, name }) => {
  expect([recordQuery(wish), namedThing(wish)]).toEqual([query, name]);
});

test.each(figures)("a number and a day are known in a text: $text", ({ text, tells }) => {
  expect(tellsFigure(text)).toBe(tells);
});
