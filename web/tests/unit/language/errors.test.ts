import { readFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import calls from "../../../src/language/de/calls.ts";
import effects from "../../../src/language/de/effects.ts";
import errors from "../../../src/language/de/errors.ts";

/** What the gateway itself says that it can give, so that neither side can grow a word that the other has not. */
const contract = JSON.parse(readFileSync(new URL("../../../protocol.schema.json", import.meta.url), "utf8"));

function wordsOf(definition: string): string[] {
  return contract.$defs[definition].enum;
}

beforeEach(() => {
  vi.resetModules();
});

/** The modules as a page has them whose language is German. */
function speakGerman(): void {
  vi.doMock("../../../src/language/language.ts", () => ({
    language: "de",
    catalogue: { ...errors, ...calls, ...effects },
  }));
}

test("every word of an error of the gateway has a German sentence, and none is left of a word that is gone", () => {
  expect(wordsOf("ErrorWord").length).toBeGreaterThan(80);
  expect(Object.keys(errors).toSorted()).toEqual(
    wordsOf("ErrorWord")
      .map((word) => `error:${word}`)
      .toSorted(),
  );
  const keys = [
    ...wordsOf("Reason").map((reason) => `reason:${reason}`),
    ...wordsOf("Outcome").map((outcome) => `outcome:${outcome}`),
  ];
  expect(Object.keys(calls).toSorted()).toEqual(keys.toSorted());
});

test("a record that cannot be read is damaged, which does not say that nothing was done", () => {
  // The audit page says so of a call that ran long ago.
  expect(errors["error:ledger_damaged"]).toBe("Die gespeicherte Aufzeichnung ist beschädigt ({0}).");
});

test("each of them is a sentence, with at most the gateway's own words in it", () => {
  for (const text of Object.values(errors)) {
    expect(text).toMatch(/^\p{Lu}.{10,}\.$/u);
    expect(text.replace(" ({0}).", ".")).not.toMatch(/[{}]/);
  }
  for (const text of Object.values(calls)) {
    expect(text).toContain("{tool}");
    expect(text).toMatch(/(\.|\{why\})$/);
  }
});

test("an error is shown in the page's language, with the gateway's words where one word stands for several faults", async () => {
  speakGerman();
  const { errorSentence } = await import("../../../src/ui/error-sentence.ts");
  expect(errorSentence("operatorOnly", "this is for operators")).toBe("Das dürfen nur Personen mit Betriebsrechten.");
  expect(errorSentence("name", "a name is 1 to 64 characters, $& too")).toBe(
    "Dieser Name geht nicht (a name is 1 to 64 characters, $& too).",
  );
  expect(errorSentence("name", "")).toBe("Dieser Name geht nicht.");
  expect(errorSentence("a word of tomorrow", "that is new")).toBe("That is new.");
  expect(errorSentence(undefined, "that is new")).toBe("That is new.");
});

test("in English the gateway's own words are shown", async () => {
  vi.doUnmock("../../../src/language/language.ts");
  const { errorSentence } = await import("../../../src/ui/error-sentence.ts");
  expect(errorSentence("operatorOnly", "this is for operators")).toBe("This is for operators.");
});

test("why a call gave nothing is said in the page's language", async () => {
  speakGerman();
  const { explainFailedCall } = await import("../../../src/features/shell/log/call-labels.ts");
  const closed = (outcome: string, reason?: string, error?: string) =>
    explainFailedCall({
      call: { id: "call_1", name: "note", arguments: {} },
      turnId: "trn_1",
      phase: "closed",
      result: { outcome, reason, error, content: "", trust: "trusted", truncated: false },
    } as never);
  expect(closed("ok")).toBeNull();
  expect(closed("timedOut", "toolTimeout")).toEqual({
    text: "`note` dauerte zu lange und wurde angehalten. Ein Teil der Arbeit kann getan sein.",
  });
  expect(closed("executionError", "toolError", "the disk is full")).toEqual({
    text: "`note` ist gescheitert: the disk is full.",
  });
  expect(closed("executionError", "toolError", "there is no notes/x.txt")).toEqual({
    text: "`note` ist gescheitert: notes/x.txt gibt es nicht.",
  });
  expect(closed("unknownTool")).toEqual({ text: "Ein Werkzeug namens `note` gibt es hier nicht." });
  vi.doUnmock("../../../src/language/language.ts");
  vi.resetModules();
  const english = await import("../../../src/features/shell/log/call-labels.ts");
  const card = { call: { id: "call_1", name: "note", arguments: {} }, turnId: "trn_1", phase: "closed" } as const;
  const result = { outcome: "cancelled", content: "", trust: "trusted", truncated: false } as const;
  expect(english.explainFailedCall({ ...card, result })).toEqual({ text: "`note` was cancelled.", lang: "en" });
});

test.each([
  ["turned down", "deniedByUser", "denied"],
  ["let expire", "timedOut", "approvalExpired"],
] as const)(
  "a call that the person %s has its state, and no sentence: the answer says it once",
  async (_, outcome, reason) => {
    const { explainFailedCall } = await import("../../../src/features/shell/log/call-labels.ts");
    const result = {
      outcome,
      reason,
      content: "",
      trust: "trusted",
      truncated: false,
    } as const;
    const call = { id: "call_1", name: "note", arguments: {} };
    expect(explainFailedCall({ call, turnId: "trn_1", phase: "closed", result })).toBeNull();
  },
);
