const MOST_CHARACTERS = 1_200;
const SHOWN_CHARACTERS = 800;
const MOST_LINES = 16;
const SHOWN_LINES = 10;

/** How a long text begins, or null where it is short enough to stand whole. Hiding a line or two would help nobody. */
export function openingOf(text: string): string | null {
  const lines = text.split("\n");
  if (lines.length <= MOST_LINES && text.length <= MOST_CHARACTERS) return null;
  const shown = lines.length > MOST_LINES ? lines.slice(0, SHOWN_LINES).join("\n") : text;
  if (shown.length <= MOST_CHARACTERS) return shown.trimEnd();
  // Between two words, where there are any; a pair of surrogates is never parted.
  const cut = shown.slice(0, SHOWN_CHARACTERS).replace(/[\uD800-\uDBFF]$/u, "");
  const end = cut.search(/\s\S*$/);
  return end > SHOWN_CHARACTERS / 2 ? cut.slice(0, end) : cut;
}
