// @vitest-environment jsdom
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  localStorage.clear();
  vi.resetModules();
});

async function sentenceIn(language: string) {
  localStorage.setItem("countersign.language", language);
  vi.resetModules();
  return (await import("../../../src/ui/call-sentence.ts")).callSentence;
}

test.each([
  ["Delete notes/old.txt", "notes/old.txt löschen"],
  ['Move a.txt to "b to c.txt"', 'a.txt nach "b to c.txt" verschieben'],
  [
    "The file a.txt will be b.txt, and is no longer where it was",
    "Die Datei a.txt wird zu b.txt und ist nicht mehr, wo sie war",
  ],
  ["Write (not given)", "(nicht angegeben) schreiben"],
  ['Search for text "yes" in notes', 'In notes nach Text "yes" suchen'],
  [
    'becomes this one: "a\\nb" ...[400 characters, sha256 0123456789abcdef]... "z \\"q\\""',
    'zu diesem: "a\\nb" ...[400 Zeichen, sha256 0123456789abcdef]... "z \\"q\\""',
  ],
  ['With the values [1, "two of three"]', 'Mit den Werten [1, "two of three"]'],
  ["Run note with what: beans, times: 1", "note ausführen mit what: beans, times: 1"],
  ["Run stumble", "stumble ausführen"],
  ["there is no notes/old.txt", "notes/old.txt gibt es nicht"],
  ['"a b.txt" is a folder, not a file', '"a b.txt" ist ein Ordner, keine Datei'],
  [
    "Sends to example.org: `id` in the path; `q` in the query",
    "Sendet an example.org: `id` im Pfad; `q` in der Abfrage",
  ],
  ["Sends to this machine: nothing but the address", "Sendet an diesen Rechner: nichts als die Adresse"],
])("what the gateway's own tools say is German: %s", async (english, german) => {
  expect((await sentenceIn("de"))(english)).toBe(german);
  expect((await sentenceIn("en"))(english)).toBe(english);
});

test.each([
  "Close the shop",
  "Delete everything; there is no way back",
  // No value stands in a sentence like this: it would be in quotes.
  "Delete a.txt and b.txt",
  "Run wild with great care",
  'Write "a',
])("what a tool's author wrote stays: %s", async (authored) => {
  expect((await sentenceIn("de"))(authored)).toBe(authored);
});
