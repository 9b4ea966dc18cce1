import { isThing } from "./acts.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

const ASKING: ReadonlySet<string> = new Set(vocabulary.askingWords);
const EXPLAINING: ReadonlySet<string> = new Set(vocabulary.explainingVerbs);
/** Words of a wish for the whole content: "what does a.txt say" asks for no part of it. */
const WHOLE: ReadonlySet<string> = new Set([
  ...vocabulary.wholeWords,
  ...vocabulary.askingWords,
  ...vocabulary.commonTerms,
  ...vocabulary.fillers,
  ...vocabulary.cues,
  ...vocabulary.acts.read.verbs,
]);

/**
 * Whether a wish asks for an answer out of a content, such as "when is the dentist in notes/todo.txt?". A wish for the content
 * itself is answered by showing it.
 */
export function asksAboutContent(wish: string): boolean {
  const words = wordsOf(wish);
  if (words.some(({ bare }) => EXPLAINING.has(bare))) return true;
  const about = words.filter(({ start, end, bare }) => !WHOLE.has(bare) && !isThing(wish.slice(start, end)));
  return about.length > 0 && words.some(({ bare }) => ASKING.has(bare));
}
