import { expect, test } from "vitest";
import { pixelsOf, shrinkImage } from "../../../src/features/shell/shrink-image.ts";

const bytes = (...parts: (string | readonly number[])[]) =>
  new Uint8Array(
    parts.flatMap((part) => (typeof part === "string" ? [...part].map((each) => each.charCodeAt(0)) : [...part])),
  );

const PNG = bytes("\x89PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR", [0, 0, 0x27, 0x10, 0, 0, 0x27, 0x10]);

test.each([
  [PNG, 100_000_000],
  [bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xff, 0xc0, 0, 17, 8, 0, 2, 0, 3]), 6],
  [bytes("RIFF----WEBPVP8 ----", [0, 0, 0, 0x9d, 1, 0x2a, 4, 0, 5, 0]), 20],
  [bytes("RIFF----WEBPVP8L----", [0x2f, 1, 0xc0, 0, 0]), 8],
  [bytes("RIFF----WEBPVP8X----", [0, 0, 0, 0, 9, 0, 0, 9, 0, 0]), 100],
  [bytes("RIFF----WEBPALPH----", [0, 0, 0, 0]), null],
  [bytes([0xff, 0xd8, 0xff]), null],
  [bytes([0x89]), null],
])("%# says how many pixels it has before anything decodes it", (image, pixels) => {
  expect(pixelsOf(image)).toBe(pixels);
});

test("one that would fill the memory, or says no size, is not decoded", async () => {
  expect(await shrinkImage("a.png", PNG, 1000)).toBe(
    "a.png has 100 million pixels; at most 50 million can be attached.",
  );
  expect(await shrinkImage("a.png", bytes([0x89]), 1000)).toBe("a.png is damaged.");
});
