import { copy } from "./copy.ts";
import { fill } from "./fill.ts";

/* What the loop says where several files may be meant, or none. */

/** What the loop says of several files of which one is meant, or of none. */
export function severalFound(query: string, files: readonly string[]): string {
  const sentence = files.length === 0 ? copy.notFound : copy.severalFound;
  // The stars of a name that is looked for are for the tool.
  return fill(sentence, (blank) =>
    blank === "query" ? query.replace(/^\*+|\*+$/g, "").replaceAll("*", " ") : quoted(files),
  );
}

/** What it says where a listing does not tell which of its files is meant. */
export function nonePicked(files: readonly string[]): string {
  return fill(copy.notPicked, () => quoted(files));
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
