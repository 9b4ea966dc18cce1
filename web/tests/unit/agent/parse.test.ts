import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AnswerReader,
  findObject,
  MAX_REPLY,
  ObjectScanner,
  ParseFailure,
  parseEnvelope,
  readObject,
  ThoughtFilter,
} from "../../../src/agent/parse.ts";
import { readVectors } from "./vectors.ts";

/* What a model meant, against the vectors that Python reads too, and against a scanner too simple to be wrong. */

const vectors = readVectors<{
  envelopes: { name: string; text: string; read: unknown }[];
  scans: { name: string; pieces: string[]; found: (string | null)[] }[];
  partials: { name: string; text: string; answer: string | null }[];
}>("parse");

test.each(vectors.envelopes)("a reply is a call, an answer or has a reason: $name", ({ text, read }) => {
  expect(JSON.stringify(members(parseEnvelope(text)))).toBe(JSON.stringify(members(read)));
});

test.each(vectors.scans)("the object is there with the piece that ends it: $name", ({ pieces, found }) => {
  const scanner = new ObjectScanner();
  expect(pieces.map((piece) => scanner.feed(piece))).toEqual(found);
});

test.each(vectors.partials)("an answer is shown as far as it is written: $name", ({ text, answer }) => {
  expect(new AnswerReader().read(text)).toBe(answer);
});

/** The same members in the same order, whoever wrote them. */
function members(value: unknown): [string, unknown][] {
  return Object.entries(value as object).sort(([one], [other]) => (one < other ? -1 : 1));
}

const broken = fc
  .array(
    fc.constantFrom(
      ...'{}"\\[]:,x1\n ',
      ...["<think>", "</think>", '{"', '"}', "\\u", "d83d", "NaN", "\ud83d", "\ude00"],
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(""));

/** The reference: each beginning in turn, and each end of it by counting. */
function plainlyFound(written: string): string | null {
  const said = written.replace(/^[ \t\r\n]+/, "");
  const closing = said.indexOf("</think>");
  const text = !said.startsWith("<think>") ? written : closing < 0 ? "" : said.slice(closing + "</think>".length);
  const start = text.search(/\{[ \t\r\n]*["'}]/);
  if (start < 0) return null;
  let [depth, quoted, escaped] = [0, false, false];
  for (let end = start; end < text.length; end++) {
    const char = text.charAt(end);
    if (escaped) escaped = false;
    else if (char === "\\" && quoted) escaped = true;
    else if (char === '"') quoted = !quoted;
    else if (!quoted) {
      if (char === "{") depth++;
      if (char === "}") depth--;
      if (depth === 0) return text.slice(start, end + 1);
    }
  }
  return null;
}

test("the scanner finds what plain counting finds", () => {
  fc.assert(fc.property(broken, (text) => void expect(findObject(text)).toBe(plainlyFound(text))));
});

test("it does not matter how a reply is cut into pieces", () => {
  fc.assert(
    fc.property(broken, fc.array(fc.nat(60)), (text, places) => {
      const cuts = [0, ...places.sort((one, other) => one - other), text.length];
      const pieces = cuts.slice(1).map((end, place) => text.slice(cuts[place], end));
      const scanner = new ObjectScanner();
      const thoughts = new ThoughtFilter();
      const parted = [...pieces.map((piece) => thoughts.feed(piece)), thoughts.finish()];
      const whole = new ThoughtFilter();
      const expected = [whole.feed(text), whole.finish()];
      expect(pieces.map((piece) => scanner.feed(piece)).at(-1)).toBe(findObject(text));
      for (const part of ["thought", "said"] as const)
        expect(parted.map((each) => each[part]).join("")).toBe(expected.map((each) => each[part]).join(""));
    }),
  );
});

test("any object is found and read whole, whatever follows", () => {
  const value = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ noUnicodeString: false }));
  fc.assert(
    fc.property(value, fc.string(), (given, after) => {
      const text = JSON.stringify(given);
      expect(findObject(text + after)).toBe(text);
      fc.pre(!/[\d.]e?\+?\d{16}|e\+/.test(text));
      expect(JSON.stringify(readObject(text))).toBe(text);
    }),
  );
});

test("any text gives a value or a reason, and never an exception", () => {
  fc.assert(
    fc.property(fc.oneof(broken, fc.string({ unit: "binary" })), (text) => {
      expect(["call", "answer", "malformed"]).toContain(parseEnvelope(text).kind);
      new AnswerReader().read(`{"answer": "${text}`);
    }),
  );
});

test("half of a character is refused, and made whole by its other half", () => {
  for (const half of ["\ud83d", "\ude00"])
    expect(parseEnvelope(`{"answer": "${half}"}`)).toMatchObject({ reason: "it has half of a character" });
  expect(parseEnvelope(`{"answer": "${"\ud83d"}${"\ude00"}"}`)).toMatchObject({ text: "😀" });
  expect(new AnswerReader().read('{"answer": "a\ud83d')).toBe("a");
});

test("a list is no object", () => {
  expect(readObject("[1]")).toMatchObject({ reason: "it is not a JSON object" });
});

test("an object that is longer than any message is refused", () => {
  expect(parseEnvelope(`{"answer": "${"x".repeat(MAX_REPLY)}"}`)).toMatchObject({ reason: "it is too long" });
});

const megabyte = 2 ** 20;

test.each([
  ["objects in objects", '{"a":'.repeat(megabyte / 5)],
  ["objects in objects, closed", `${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}`],
  ["lists in lists", `{"a":${"[".repeat(megabyte)}${"]".repeat(megabyte)}}`],
  ["a long answer", `{"answer": "${"x".repeat(megabyte)}"}`],
  ["openings only", "{".repeat(megabyte)],
  ["openings and space", "{ ".repeat(megabyte / 2)],
  ["escapes only", `{"answer": "${"\\\\".repeat(megabyte / 2)}`],
  ["quotes only", '{"'.repeat(megabyte / 2)],
  ["space before all", " ".repeat(megabyte)],
  ["tags that never close", `<think>${"</thin".repeat(megabyte / 6)}`],
  ["control characters", `{"answer": "${"\n".repeat(MAX_REPLY - 20)}"}`],
  ["digits", `{"a":${"9".repeat(MAX_REPLY - 10)}}`],
])("a hostile reply is answered in time linear in its length: %s", (_name, text) => {
  const began = process.cpuUsage();
  expect(["answer", "malformed"]).toContain(parseEnvelope(text).kind);
  const scanner = new ObjectScanner();
  for (let at = 0; at < text.length; at += 64) scanner.feed(text.slice(at, at + 64));
  new AnswerReader().read(text);
  // A second would be a hundred times what each takes; what is quadratic takes minutes.
  expect(process.cpuUsage(began).user).toBeLessThan(10_000_000);
});

describe("a partial answer", () => {
  test("grows to the whole answer and never shows an escape half read", () => {
    const whole = 'Line one\nsaid "hi" \\ 😀 é';
    const json = JSON.stringify({ answer: whole }).replace("é", "\\u00e9").replace("😀", "\\ud83d\\ude00");
    let before = "";
    for (let length = 0; length <= json.length; length++) {
      const part = new AnswerReader().read(json.slice(0, length));
      if (part === null) continue;
      expect(whole.startsWith(part)).toBe(true);
      expect(part.length).toBeGreaterThanOrEqual(before.length);
      before = part;
    }
    expect(before).toBe(whole);
  });

  test("is null for a call", () => {
    expect(new AnswerReader().read('{"tool": "read_file"')).toBeNull();
  });
});

test("a reply is measured in code units", () => {
  const whole = (count: number) => `{"a":"${"😀".repeat(count)}"}`;
  expect(readObject(whole(MAX_REPLY / 2 - 4))).not.toBeInstanceOf(ParseFailure);
  expect(readObject(whole(MAX_REPLY / 2 - 3))).toEqual(new ParseFailure("it is too long"));
});

test("an answer is read once while it is written, and no further than where it breaks", () => {
  const text = `{"answer": "${'\\"'.repeat(100_000)}`;
  const reader = new AnswerReader();
  const began = process.cpuUsage();
  let said = "";
  for (let at = 0; at <= text.length; at += 5) said += reader.read(text.slice(0, at)) ?? "";
  expect(said).toMatch(/^"{99990,}$/);
  expect(process.cpuUsage(began).user).toBeLessThan(10_000_000);
  const broken = new AnswerReader();
  const pieces = ["a", "ab", "ab\\xc", "ab\\xcd"].map((written) => broken.read(`{"answer": "${written}`));
  expect(pieces).toEqual(["a", "b", null, null]);
});
