import { catalogue } from "../language/language.ts";
import { t } from "../language/t.ts";

/** An error of the gateway as a sentence in the page's language, by its stable word; else in the gateway's own words. */
export function errorSentence(word: string | undefined, message: string): string {
  const said = message.trim();
  const known = catalogue[`error:${word}`];
  if (known !== undefined) return said === "" ? known.replace(" ({0})", "") : known.replace("{0}", () => said);
  if (said === "") return t`The gateway refused without saying why.`;
  // Its messages start in lower case and end without a stop, so that they fit into other sentences.
  const closed = /[.!?]$/.test(said) ? said : `${said}.`;
  return closed.charAt(0).toUpperCase() + closed.slice(1);
}
