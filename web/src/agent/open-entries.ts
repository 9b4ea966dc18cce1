import { questionIn, TASKS } from "./affairs.ts";
import { filledLines, isTicked } from "./entries.ts";
import type { TableRow } from "./tables.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * What of a list is still open, and what is ticked: "what do I still have to buy?", "what still has to be done in todo.txt?".
 *
 * A small model tells the ticked entries for the open ones. The boxes of a list say which is which, and the verb how the list of
 * somebody is called that does not name it.
 */

/** What is asked of a list that was found by what it is for. */
export const OPEN = "what is not done?";

const LEFT = anyOf(vocabulary.stillWords);
const OBLIGED = anyOf(vocabulary.obligedWords);
const STILL = new RegExp(`^(?:what|which)\\b(?=.*\\b(?:${LEFT})\\b).*\\b(?:${OBLIGED})\\b`, "i");
const TICKED = new RegExp(
  `^(?:what|which)\\b(?!.*\\b(?:not|${LEFT})\\b).*\\b(?:${anyOf(vocabulary.tickedWords)})\\b`,
  "i",
);
const VERB = new RegExp(`\\b(?:${anyOf(vocabulary.obligedLeads)})(?: still)? (?<verb>[a-z]+)\\b`, "i");
const FEWEST = 2;

/** Whether it asks for what is not done yet. */
export function asksOpen(wish: string): boolean {
  const question = questionIn(wish);
  return question === OPEN || STILL.test(question);
}

/**
 * The entries with an open box, or with a ticked one, that a wish asks for; null where it asks for neither, and where the text has
 * no boxes.
 */
export function entriesAsked(wish: string, text: string): readonly TableRow[] | null {
  const isOpen = asksOpen(wish);
  const boxed = boxedIn(text);
  if (boxed.length < FEWEST || !(isOpen || TICKED.test(questionIn(wish)))) return null;
  return boxed.filter((row) => isTicked(row) !== isOpen);
}

/** The entries of a text that have a box. */
export function boxedIn(text: string): readonly TableRow[] {
  return filledLines(text).filter((row) => isTicked(row) !== null);
}

/** What to look for to answer what somebody still has to do, buy or pack: names of such a list; nothing for another wish. */
export function openQueries(wish: string): readonly string[] {
  const verb = asksOpen(wish) ? (VERB.exec(questionIn(wish))?.groups?.verb?.toLowerCase() ?? "") : "";
  if (verb === "do") return TASKS;
  const lists: readonly (readonly string[])[] = Object.values(vocabulary.listsFor);
  return (lists.find((names) => names.includes(verb)) ?? []).map((name) => `*${name}*`);
}
