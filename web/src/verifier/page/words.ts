/**
 * The page's words in its reader's language: the address's (`#de`), else the browser's first that there is, else English. The page
 * keeps nothing, so the choice is a part of its address.
 */

import german from "../../language/de/verifier.json" with { type: "json" };
import germanFaults from "../../language/de/verifier-faults.json" with { type: "json" };
import { wordingFrom } from "../wording.ts";

export const pageLanguage: "en" | "de" = chosen();

const catalogue: Readonly<Record<string, string>> = pageLanguage === "de" ? german : {};

/** What the page or the check says, in the page's language; what no catalogue has, as it is. */
export const say = wordingFrom(catalogue);

const sayKnownFault = wordingFrom(pageLanguage === "de" ? germanFaults : {});

/** What is wrong with a file, in the page's language; null where no catalogue has it, as `audit verify` says it. */
export function sayFault(english: string): string | null {
  const said = sayKnownFault(english);
  return said === english ? null : said;
}

/** A sentence of the page about something, such as `Checking {0}`. */
export function sayOf(english: string, value: string): string {
  return (catalogue[english] ?? english).replace("{0}", () => value);
}

/** Everything that stands in the page from the beginning. */
export function translatePage(): void {
  document.documentElement.lang = pageLanguage;
  document.title = say(document.title);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode as Text;
    const words = text.data.replaceAll(/\s+/g, " ").trim();
    const translated = catalogue[words];
    if (translated !== undefined) text.data = `${edge(/^\s/, text.data)}${translated}${edge(/\s$/, text.data)}`;
  }
}

function edge(space: RegExp, text: string): string {
  return space.test(text) ? " " : "";
}

function chosen(): "en" | "de" {
  const tags = [location.hash.slice(1), ...navigator.languages];
  const first = tags.map((tag) => tag.split("-")[0]).find((tag) => tag === "de" || tag === "en");
  return first === "de" ? "de" : "en";
}
