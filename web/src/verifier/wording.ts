/** What a check says, by a catalogue: `{0}` stands for a number, a name or a time, and behind a colon for a reason that it says too. */
export function wordingFrom(catalogue: Readonly<Record<string, string>>): (english: string) => string {
  const patterns = Object.entries(catalogue)
    .filter(([english]) => HOLE.test(english))
    // Of two that fit, the one with more words of its own is what was said.
    .toSorted(([one], [other]) => wordsIn(other) - wordsIn(one))
    .map(([english, text]) => ({ pattern: patternOf(english), text }));
  const known = (english: string): string | undefined => {
    const fixed = catalogue[english];
    if (fixed !== undefined) return fixed;
    for (const { pattern, text } of patterns) {
      const found = pattern.exec(english);
      if (found === null) continue;
      return text.replaceAll(/(: )?\{(\d)\}/g, (_, colon: string | undefined, at: string) => {
        const value = found[Number(at) + 1] ?? "";
        return colon === undefined ? value : `${colon}${known(value) ?? value}`;
      });
    }
    return undefined;
  };
  return (english) => {
    const parts = () => english.split("; ").map((part) => known(part) ?? part);
    return known(english) ?? parts().join("; ");
  };
}

const HOLE = /\{\d\}/;

function wordsIn(english: string): number {
  return english.replaceAll(/\{\d\}/g, "").length;
}

function patternOf(english: string): RegExp {
  const escaped = english.replaceAll(/[\\^$.*+?()[\]|]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll(/\{\d\}/g, "([^;]+?)")}$`);
}
