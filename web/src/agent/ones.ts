import { headOf } from "./objects.ts";
import { added, bareAt, moved, type Token } from "./tokens.ts";
import type { WishVerbs } from "./wish-verbs.ts";
import { wishWords } from "./wish-words.ts";

/* What "one" stands for beside the thing that a clause names before it: "set a timer for 5 minutes and another one for 20". */

const BOUNDS: ReadonlySet<string> = new Set([...wishWords.prepositions, ...wishWords.particles]);
const LEADS: ReadonlySet<string> = new Set(["another", "the"]);

type Tokens = readonly Token[];

/** A clause with its noun in the place of "one"; as it is without a plain noun behind its verb, or a "one" after that. */
export function withNouns(tokens: Tokens, verbs: WishVerbs): Tokens {
  const head = headOf(tokens, verbs);
  const noun = nounAt(tokens, head);
  if (noun === null) return tokens;
  return tokens.flatMap((token, at) => {
    const isBound = at > head + 1 && BOUNDS.has(bareAt(tokens, at + 1)) && token.mark === "";
    const before = bareAt(tokens, at - 1);
    if (isBound && token.bare === "one" && LEADS.has(before)) return [moved(noun)];
    if (isBound && token.bare === "one" && wishWords.joiners.includes(before)) return [added("a"), moved(noun)];
    return isBound && token.bare === "another" ? [{ ...token, gap: " " }, moved(noun)] : [token];
  });
}

/** The one word for the thing that a clause is about, which has its article before it and more words behind it. */
function nounAt(tokens: Tokens, head: number): Token | null {
  const noun = tokens[head + 1];
  const isPlain = wishWords.determiners.includes(bareAt(tokens, head)) && BOUNDS.has(bareAt(tokens, head + 2));
  if (head === 0 || noun === undefined || !isPlain) return null;
  return noun.isName || noun.isQuoted || noun.mark !== "" || BOUNDS.has(noun.bare) ? null : noun;
}
