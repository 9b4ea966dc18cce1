import { ACTS, bareThing, isThing } from "./acts.ts";
import { vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { wordsOf } from "./words.ts";

/*
 * What a wish names and deletes not, though it deletes something else by name: the file that is to be read, or that is needed.
 *
 * Where a message is not taken apart into its wishes, a small model takes the first name for the one that is to go. So each name goes
 * with the verb before it: of "I need trip.md, and could you also delete offer.txt" only `offer.txt` may be deleted.
 */

const TAKING: ReadonlySet<string> = new Set([...vocabulary.discardingVerbs, ...vocabulary.takingWords]);
const VERBS: ReadonlySet<string> = new Set([
  ...TAKING,
  ...wishWords.imperatives,
  ...vocabulary.havingVerbs,
  ...ACTS.flatMap(([, { verbs }]) => verbs),
]);
const NOUN_LEADS: ReadonlySet<string> = new Set([...vocabulary.pointingWords, ...vocabulary.keptLeads]);
const BACK: ReadonlySet<string> = new Set(vocabulary.fileReferences);

/** Whether the wish names `path` and deletes only others of what it names. False where it is not said which go. */
export function isPassedOver(path: string, wish: string): boolean {
  const named = new Set<string>();
  const taken = new Set<string>();
  const words = wordsOf(wish);
  let isTaking = false;
  words.forEach(({ start, end, bare }, at) => {
    const thing = bareThing(wish.slice(start, end));
    if (isThing(thing)) {
      named.add(thing);
      if (isTaking) taken.add(thing);
    } else if (VERBS.has(bare) && !NOUN_LEADS.has(words[at - 1]?.bare ?? "")) {
      isTaking = TAKING.has(bare);
      // "Read a.txt and delete it."
      if (isTaking && BACK.has(words[at + 1]?.bare ?? "")) for (const each of named) taken.add(each);
    }
  });
  return taken.size > 0 && named.has(path) && !taken.has(path);
}
