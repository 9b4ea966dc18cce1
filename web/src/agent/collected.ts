import { linesOf } from "./passages.ts";
import { numbersIn } from "./quantities.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/* All that a text has of one kind: its dates, addresses, links or amounts. A small model leaves some out and makes others up. */

type Kind = keyof typeof vocabulary.collectedKinds;

const MONTHS = anyOf(vocabulary.months.flat());
const DAY = "[0-9]{1,2}(?:st|nd|rd|th)?";
const YEAR = "(?:,? (?:19|20)[0-9]{2})?";
const FORMS: Readonly<Record<Exclude<Kind, "amounts">, RegExp>> = {
  dates: new RegExp(
    `\\b[0-9]{4}-[0-9]{2}-[0-9]{2}\\b|\\b[0-9]{1,2}\\.[0-9]{1,2}\\.(?:[0-9]{4}\\b|[0-9]{2}\\b)?` +
      `|\\b(?:${DAY} (?:to|and|-|–) )?${DAY} (?:of )?(?:${MONTHS})\\b${YEAR}|\\b(?:${MONTHS})\\.? ${DAY}\\b${YEAR}`,
    "gi",
  ),
  addresses: /[a-z0-9_.+-]+@[a-z0-9_-]+(?:\.[a-z0-9_-]+)+/gi,
  links: /https?:\/\/[^\s<>"')\]]*[^\s<>"')\].,;:!?]/gi,
};
const ASKED = (Object.keys(vocabulary.collectedKinds) as Kind[]).map((kind) => ({
  kind,
  form: new RegExp(`\\b(?:all|every|each)(?: of)?(?: the)? (?:${anyOf(vocabulary.collectedKinds[kind])})\\b`, "i"),
}));

/** The kind of which a wish asks for all there is; null for any other wish. */
export function kindAsked(wish: string): Kind | null {
  return ASKED.find(({ form }) => form.test(wish))?.kind ?? null;
}

/** Each of a kind once, in its order, a line each; null where the text has none. */
export function collected(kind: Kind, text: string): string | null {
  const found = kind === "amounts" ? amountsIn(text) : (text.match(FORMS[kind]) ?? []);
  return found.length === 0 ? null : [...new Set(found)].join("\n");
}

function amountsIn(text: string): string[] {
  const numbers = linesOf(text).flatMap((line) => numbersIn(line));
  return numbers.filter(({ unit }) => unit !== "").map((each) => each.text);
}
