import { ACTS, isThing } from "./acts.ts";
import { isForAnother } from "./asked.ts";
import { carryingIn } from "./carrying.ts";
import { foldersSaid } from "./copied.ts";
import { findingIn } from "./finding.ts";
import type { LaneInput } from "./lane.ts";
import { vocabulary } from "./vocabulary.ts";
import { wishesIn } from "./wishes.ts";
import { QUOTED, wordsOf } from "./words.ts";

/*
 * The wishes of a message that a model can be asked for one by one, because none stands on what another comes to. Shown the whole
 * message and what is done of it, a small model leaves one out, does one twice, or reads the file that is to go.
 */

const ASKING: ReadonlySet<string> = new Set([
  ...vocabulary.questionWords,
  ...vocabulary.questionOpeners,
  ...vocabulary.askingWords,
]);
const READING = ACTS.flatMap(([act, { verbs }]) => (act === "read" ? verbs : []));
const LOOKING: ReadonlySet<string> = new Set([...READING, ...vocabulary.yesNoWords].filter((word) => word !== "list"));

/** The wishes of a message, two or more, where each says itself what it is about; else none. */
export function separateWishes(message: string, tools: LaneInput["tools"]): string[] {
  if (carryingIn(message, tools) !== null || findingIn(message) !== null) return [];
  const wishes = wishesIn(message, tools);
  return wishes.some((wish) => standsOnAnother(wish, tools)) ? [] : wishes;
}

/** Whether a wish asks for something, or looks at something, that it does not name: it may be what another one finds. */
function standsOnAnother(wish: string, tools: LaneInput["tools"]): boolean {
  const words = wordsOf(wish.replaceAll(QUOTED, " ")).map(({ bare }) => bare);
  const asks = words.some((word) => ASKING.has(word)) || words.slice(0, 1).some((word) => LOOKING.has(word));
  const isNamed =
    wordsOf(wish).some(({ start, end }) => isThing(wish.slice(start, end))) || foldersSaid(wish).length > 0;
  return asks && !isNamed && !isForAnother(wish, tools);
}
