import { translator } from "../../../agent/german-words.ts";
import { catalogue } from "../../../language/language.ts";

/* What the agent loop says by itself, in the page's language. */

const inThisLanguage = translator(catalogue);
const shown = new WeakMap<object, string>();

/** The text of an entry as it is read, made once. */
export function shownText(entry: { readonly text: string }): string {
  let text = shown.get(entry);
  if (text === undefined) {
    text = inThisLanguage(entry.text);
    shown.set(entry, text);
  }
  return text;
}
