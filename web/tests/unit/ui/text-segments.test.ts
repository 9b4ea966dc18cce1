import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeOf, type Segment, segment } from "../../../src/ui/text-segments.ts";

/** What a person sees, as one string: escapes in brackets, look-alikes with their code. */
function seen(text: string): string {
  return segment(text).map(shown).join("");
}

function shown(part: Segment): string {
  switch (part.kind) {
    case "escape":
      return part.count > 1 ? `[${part.code}×${part.count}]` : `[${part.code}]`;
    case "lookalike":
      return `${part.text}(${part.code})`;
    case "rtl":
      return `{${part.text}}`;
    case "plain":
      return part.text;
  }
}

function originalOf(part: Segment): string {
  if (part.kind !== "escape") return part.text;
  const named: Record<string, string> = { "\\n": "\n", "\\r": "\r", "\\t": "\t", "\\0": "\0", space: " " };
  const char = named[part.code] ?? String.fromCodePoint(Number.parseInt(part.code.slice(2), 16));
  return char.repeat(part.count);
}

describe("a value on the approval page (docs/SECURITY.md case 34)", () => {
  test.each([
    ["a right-to-left override", "invoice\u202efdp.exe", "invoice[U+202E]fdp.exe"],
    ["an isolate", "a\u2066b\u2069", "a[U+2066]b[U+2069]"],
    ["a zero-width space", "pay\u200bpal", "pay[U+200B]pal"],
    ["a run of zero-width joiners", `x${"\u200d".repeat(40)}y`, "x[U+200D×40]y"],
    ["a byte order mark", "\ufeffrm", "[U+FEFF]rm"],
    ["a soft hyphen", "exam\u00adple", "exam[U+00AD]ple"],
    ["a variation selector", "a\ufe0f", "a[U+FE0F]"],
    ["a tag character", "a\u{e0041}", "a[U+E0041]"],
    ["a private-use character", "a\ue000", "a[U+E000]"],
    ["an unpaired surrogate", "a\ud800b", "a[U+D800]b"],
    ["a terminal escape", "\u001b[2Jgone", "[U+001B][2Jgone"],
    ["a null", "a\0b", "a[\\0]b"],
    ["a no-break space", "rm\u00a0-rf", "rm[U+00A0]-rf"],
    ["an ideographic space", "a\u3000b", "a[U+3000]b"],
    ["a blank braille cell", "a\u2800b", "a[U+2800]b"],
    ["a Hangul filler", "a\u3164b", "a[U+3164]b"],
    ["a line separator", "a\u2028b", "a[U+2028]b"],
  ])("shows %s as its code point", (_what, text, expected) => {
    expect(seen(text)).toBe(expected);
  });

  test("shows line breaks and tabs, and goes on to the next line after a break", () => {
    expect(seen("a\n\tb\r\n")).toBe("a[\\n][\\t]b[\\r][\\n]");
    expect(segment("a\nb").map((part) => part.kind === "escape" && part.breaks)).toEqual([false, true, false]);
  });

  test("counts padding instead of letting it push the rest out of sight", () => {
    expect(seen(`echo hi${"\n".repeat(500)}rm -rf ~`)).toBe("echo hi[\\n×500]rm -rf ~");
    expect(seen(`echo hi${" ".repeat(300)}; rm -rf ~`)).toBe("echo hi[space×300]; rm -rf ~");
  });

  test("shows a space at either end of the value and before a line break", () => {
    expect(seen(" notes/old.txt ")).toBe("[space]notes/old.txt[space]");
    expect(seen("one  \n    two")).toBe("one[space×2][\\n]    two");
    expect(seen("   ")).toBe("[space×3]");
  });

  test.each([
    ["Cyrillic among Latin", "раypal.com", "р(U+0440)а(U+0430)ypal.com"],
    ["a word that is all look-alikes", "аррӏе", "а(U+0430)р(U+0440)р(U+0440)ӏ(U+04CF)е(U+0435)"],
    ["a Greek omicron", "gοogle", "gο(U+03BF)ogle"],
    ["full-width letters", "ｒｍ", "ｒ(U+FF52)ｍ(U+FF4D)"],
    ["mathematical letters", "𝐫m", "𝐫(U+1D42B)m"],
    ["a fraction slash", "notes⁄old", "notes⁄(U+2044)old"],
    ["a division slash", "a∕b", "a∕(U+2215)b"],
    ["a one-dot leader", "old․txt", "old․(U+2024)txt"],
    ["a non-breaking hyphen", "rm \u2011rf", "rm \u2011(U+2011)rf"],
    ["a minus sign", "−1", "−(U+2212)1"],
  ])("marks %s", (_what, text, expected) => {
    expect(seen(text)).toBe(expected);
  });

  test.each(["привет, а как дела?", "Ελληνικά", "日本語のテキスト", "naïve café", "“quoted” — and so on", "한국어"])(
    "leaves %s as it is",
    (text) => {
      expect(seen(text)).toBe(text);
    },
  );

  test("still marks a mixed word inside a sentence of the other script", () => {
    expect(seen("привет еtс")).toBe("привет е(U+0435)tс(U+0441)");
  });

  test("keeps right-to-left words readable and everything around them in logical order", () => {
    expect(seen("שלום עולם/a.txt")).toBe("{שלום עולם}/a.txt");
    expect(segment("אבג/123/דהו").map((part) => part.kind)).toEqual(["rtl", "plain", "rtl"]);
  });

  test("stops combining marks from piling up over their neighbours", () => {
    expect(seen(`a${"\u0301".repeat(9)}b`)).toBe("a\u0301\u0301\u0301[U+0301×6]b");
  });

  test("cuts 50 kB in one go and loses nothing of it", () => {
    const text = `${"0123456789 abc\n".repeat(3_400)}\u202eend`;
    expect(segment(text).map(originalOf).join("")).toBe(text);
  });
});

test("every character of any text is there, and nothing invisible is shown as plain", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      const parts = segment(text);
      expect(parts.map(originalOf).join("")).toBe(text);
      for (const part of parts) {
        if (part.kind === "plain")
          expect(part.text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
      }
    }),
    { numRuns: 300 },
  );
});

test("two different texts never look the same", () => {
  const tricky = fc.array(fc.constantFrom("a", "а", " ", "\u00a0", "\n", "\u200b", "\u202e", "[", "]", "ו"), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(tricky, tricky, (one, other) => {
      const [first, second] = [one.join(""), other.join("")];
      if (first !== second) expect(segment(first)).not.toEqual(segment(second));
    }),
    { numRuns: 500 },
  );
});

test("codes have at least four digits", () => {
  expect([codeOf("\u0007"), codeOf("\u{1f600}")]).toEqual(["U+0007", "U+1F600"]);
});
