import { describe, expect, test } from "vitest";
import { findDays, plain } from "../../../src/agent/days.ts";
import { enrich } from "../../../src/agent/enrich.ts";
import { type Focus, NOTHING } from "../../../src/agent/focus.ts";
import { isoDay } from "../../../src/agent/iso-day.ts";
import { findMoney } from "../../../src/agent/money.ts";
import { requirement } from "../../requirement.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly enrich: readonly {
    name: string;
    arguments: Record<string, unknown>;
    schema: Record<string, unknown>;
    message: string;
    focus: Partial<Focus>;
    today: string;
    enriched: unknown;
  }[];
  readonly days: readonly { name: string; text: string; today: string; ahead: boolean; days: (string | null)[] }[];
  readonly money: readonly { name: string; text: string; money: unknown }[];
}

const vectors = readVectors<Vectors>("enrich");

describe("what is empty is filled with what was said", () => {
  test.each(vectors.enrich)("$name", ({ arguments: args, schema, message, focus, today, enriched }) => {
    const before = structuredClone(args);
    expect(enrich(args, schema, message, { ...NOTHING, ...focus }, today)).toEqual(enriched);
    expect(args).toEqual(before);
  });
});

describe("days are read as people name them", () => {
  test.each(vectors.days)("$name", ({ text, today, ahead, days }) => {
    expect(findDays(plain(text), today, ahead).map(({ day }) => day)).toEqual(days);
  });
});

describe("the amount is the token that looks like money", () => {
  test.each(vectors.money)("$name", ({ text, money }) => expect(findMoney(text)).toEqual(money));
});

test("a day is the one where the person is, late at night too", () => {
  requirement("004-14", "today is the date of the person's zone");
  expect(isoDay(new Date(2026, 2, 9, 23, 59))).toBe("2026-03-09");
  expect(isoDay(new Date(2026, 2, 9, 0, 0))).toBe("2026-03-09");
});

test("a pasted table is read in time linear in its length", () => {
  const properties = { date: { type: "string" }, amount: { type: "string" }, query: { type: "string" } };
  const began = process.cpuUsage();
  for (const cell of ["2026-11-20 ", "today ", "find ", "$1 "])
    enrich({}, { properties }, cell.repeat(100_000 / cell.length), { ...NOTHING, query: "rent" }, "2026-11-21");
  expect(process.cpuUsage(began).user).toBeLessThan(5_000_000);
});
