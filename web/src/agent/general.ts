import { askedActs } from "./acts.ts";
import { questionIn } from "./affairs.ts";
import { vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { wordsOf } from "./words.ts";

/*
 * Questions about how something is done, what something is, or why: a verb in one of them asks for nothing. "How do I sort a list in
 * JavaScript" has the verbs of two tools and wants neither; "what is in my list" wants one.
 */

const EXPLAINING: ReadonlySet<string> = new Set(vocabulary.explainingVerbs);
const LISTENERS: ReadonlySet<string> = new Set(wishWords.sharing);
/** What stands after "how" where the way is asked for, and not how much it is or how it was. */
const DOING: ReadonlySet<string> = new Set(["do", "does", "to", ...vocabulary.adviceModals]);
const BEINGS: ReadonlySet<string> = new Set([...vocabulary.classifyingWords, "do", "does"]);

/**
 * Whether it asks how something is done or works: "how do I …", "explain how to …". How much it is, or how it was, is another
 * question, and one that goes on with an order, "… and save it in a.txt", is none.
 */
export function asksHow(wish: string): boolean {
  const [first, second = ""] = told(wish);
  return first === "how" && DOING.has(second) && askedActs(wish).every(({ act }) => act === "read");
}

/** Whether it asks what something is or does, or why: "what is the difference between a list and a tuple". */
export function asksWhat(wish: string): boolean {
  const [first = "", second = ""] = told(wish);
  return (first === "what" && BEINGS.has(second)) || first === "what's" || first === "why";
}

/**
 * Whether it asks for what changes from day to day: "what's the weather in Paris". A text about it is another wish: "a poem about the
 * weather".
 */
export function asksLive(wish: string): boolean {
  const said = wordsOf(questionIn(wish)).map(({ bare }) => bare);
  const isText = said.includes("a") || said.includes("an");
  const spoken = ` ${said.join(" ")} `;
  return !isText && vocabulary.livePhrases.some((phrase) => spoken.includes(` ${phrase} `));
}

/** The words of the one question that it is, without what leads into it; none where it is more than one sentence. */
function told(wish: string): string[] {
  const words = wordsOf(questionIn(wish)).map(({ bare }) => bare);
  if (!EXPLAINING.has(words[0] ?? "")) return words;
  const rest = words.slice(words[1] === "to" ? 2 : 1);
  return LISTENERS.has(rest[0] ?? "") ? rest.slice(1) : rest;
}
