import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const sheet = readFileSync(new URL("../../../src/styles/tokens.css", import.meta.url), "utf8");

/** The colours of one scheme and app: what `:root` says, with the later block laid over it. */
function palette(dark: boolean, shell: boolean): Map<string, string> {
  const [light = "", night = ""] = sheet.split("@media (prefers-color-scheme: dark)");
  const blocks = (part: string) => part.split(':root[data-app="shell"]');
  const parts = [
    blocks(light)[0],
    shell && blocks(light)[1],
    dark && blocks(night)[0],
    dark && shell && blocks(night)[1],
  ];
  const colours = parts.flatMap((part) => [...(part || "").matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)]);
  return new Map(colours.map(([, name = "", value = ""]) => [name, value]));
}

function luminance(hex: string): number {
  const channels = [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = channels.map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dim = 0, bright = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dim + 0.05);
}

const grounds = ["paper", "surface", "surface-sunk"];
const on = (ink: string, ...all: string[]) => all.map((ground) => [ink, ground] as const);

/** WCAG 1.4.3: text. */
const text = [
  ...["ink", "ink-soft", "ink-faint", "accent-ink", "danger", "ok", "info", "brass"].flatMap((ink) =>
    on(ink, ...grounds),
  ),
  ...["accent", "accent-hover"].map((ground) => ["on-accent", ground] as const),
  ...on("accent-ink", "accent-soft"),
  ...on("brass", "brass-soft"),
  ...on("danger", "danger-soft"),
  ...on("ok", "ok-soft"),
  ...on("info", "info-soft"),
  ...on("ink", "accent-soft", "brass-soft", "danger-soft", "ok-soft", "info-soft"),
  ...["bar-ink", "bar-ink-soft"].flatMap((ink) => on(ink, "bar", "bar-hover")),
];

/** WCAG 1.4.11: edges of controls and the focus ring. */
const edges = [...["edge", "focus"].flatMap((edge) => on(edge, ...grounds)), ...on("focus-on-bar", "bar", "bar-hover")];

describe.each([
  ["light console", palette(false, false)],
  ["dark console", palette(true, false)],
  ["light shell", palette(false, true)],
  ["dark shell", palette(true, true)],
])("%s", (_scheme, colours) => {
  const colour = (name: string) => colours.get(name) ?? expect.fail(`no colour named ${name}`);

  test.each(text)("text in %s can be read on %s", (ink, ground) => {
    expect(contrast(colour(ink), colour(ground))).toBeGreaterThanOrEqual(4.5);
  });

  test.each(edges)("an edge in %s can be seen on %s", (edge, ground) => {
    expect(contrast(colour(edge), colour(ground))).toBeGreaterThanOrEqual(3);
  });
});

test("the workspace does not wear the console's green", () => {
  expect(palette(false, true).get("accent")).not.toBe(palette(false, false).get("accent"));
  expect(palette(true, true).get("accent")).not.toBe(palette(true, false).get("accent"));
});
