import { copy } from "./copy.ts";
import { excerptOf } from "./excerpts.ts";
import type { ResultSource } from "./figures.ts";
import { fill } from "./fill.ts";
import { linesOf } from "./passages.ts";
import { tableOf } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";

/*
 * The answer to a question for what a folder holds, and for nothing more: "what files are there?", "show me notes/".
 *
 * A small model miscounts the entries and mixes names up with sizes. Any other question about a listing, such as which of the files
 * are about a garden, is left to the model.
 */

const HEAD = /^.+ holds ([0-9]{1,6}) entr(?:y|ies):$/;
const EMPTY = /^.+ is empty$/;
const WORD = /[a-z0-9]+/g;
const ASKING: readonly string[] = vocabulary.plainListingWords;

/** Names. More of them are a list. */
const IN_A_SENTENCE = 12;

/** How many entries a folder has and what they are called; null for another result, or another question. */
export function answerListing(wish: string, { name, text }: ResultSource): string | null {
  const lines = linesOf(text);
  const [first] = lines;
  if (first === undefined || !asksForAll(wish, name)) return null;
  const table = tableOf(text, name);
  const place = placeOf(name);
  if (table?.listing !== true || Number(HEAD.exec(first)?.[1]) !== table.rows.length)
    return lines.length === 1 && EMPTY.test(first) ? fill(copy.listedNone, () => place) : null;
  const names = table.rows.map(({ cells }) => quoted(cells.slice(0, 1).join("") + (cells[1] === "folder" ? "/" : "")));
  const say = (sentence: string, named: string) =>
    fill(sentence, (blank) => ({ count: `${names.length}`, place })[blank] ?? named);
  if (names.length === 1) return say(copy.listedOne, names.join(""));
  if (names.length <= IN_A_SENTENCE)
    return say(copy.listed, `${names.slice(0, -1).join(", ")} and ${names.slice(-1).join("")}`);
  const excerpt = excerptOf(lines.slice(1).join("\n"));
  const rest = excerpt.leftOut === 0 ? "" : `\n${fill(copy.leftOut, () => `${excerpt.leftOut}`)}`;
  return `${say(copy.listedLong, "")}\n\n${excerpt.text}${rest}`;
}

function asksForAll(wish: string, name: string): boolean {
  const known = new Set([...ASKING, ...(name.toLowerCase().match(WORD) ?? [])]);
  const said = wish.toLowerCase().match(WORD) ?? [];
  return said.length > 0 && said.every((word) => known.has(word));
}

function placeOf(name: string): string {
  return [".", ""].includes(name.replace(/\/+$/, "")) ? copy.workspace : quoted(name);
}

function quoted(name: string): string {
  return `\`${name.replaceAll("`", " ")}\``;
}
