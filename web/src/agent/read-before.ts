import type { ToolDescriptor } from "../protocol/generated.ts";
import { askedActs, isThing } from "./acts.ts";
import { isOneQuestion, questionIn } from "./affairs.ts";
import { isForAnother } from "./asked.ts";
import type { ProposedCall } from "./lane.ts";
import type { Message } from "./messages.ts";
import { stem, termsIn } from "./ranking.ts";
import { readerAmong } from "./reading.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * A question right after a file was read, whose words stand in that file: "how much is the hotel in total?", "who was there?". What a
 * small model remembers of a file is no answer, so it is read again.
 */

/** Words that tell nothing of what a question is about. */
const UNTELLING: ReadonlySet<string> = new Set([
  ...vocabulary.lightWords,
  ...vocabulary.commonTerms,
  ...vocabulary.askingWords,
  ...vocabulary.figureNouns,
  ...vocabulary.phraseEnds,
  ...vocabulary.linkWords,
  ...vocabulary.measures,
  ...vocabulary.fillers,
  ...Object.values(vocabulary.figures).flat(),
]);
/** What boxes of a list say without the word: "how many are open?". */
const OPEN = vocabulary.stillWords.map(stem);
/** What points at what was read where nothing else does. */
const THERE = "there";
const ANY: ReadonlySet<string> = new Set(["a", "an"]);
/** Words of a question what something is by itself: "what is garlic". */
const DEFINES = 3;
/** Words by which a question may be about the day on which it is asked. */
const TODAY: ReadonlySet<string> = new Set(["date", "day", "time", "now", ...Object.keys(vocabulary.nearDays)]);

/**
 * The call that reads the file which the call before this turn read, where a question is about what it says; null for any other
 * wish.
 */
export function readAgain(
  wish: string,
  messages: readonly Message[],
  turnId: string,
  tools: readonly ToolDescriptor[],
): ProposedCall | null {
  const reader = readerAmong(tools);
  const last = messages.findLast((each) => each.role === "tool");
  if (reader === null || last === undefined || last.turnId === turnId || last.call.name !== reader.name) return null;
  const words = wordsOf(questionIn(wish));
  const isPlain = isOneQuestion(words) && !wordsOf(wish).some(({ start, end }) => isThing(wish.slice(start, end)));
  const isDefined = words[0]?.bare === "what" && words.length <= DEFINES;
  const isGeneral = isDefined || words.some(({ bare }) => ANY.has(bare));
  const isOther = isGeneral || askedActs(wish).some(({ act }) => act !== "read") || isForAnother(wish, tools);
  if (last.result.outcome !== "ok" || !isPlain || isOther || words.some(({ bare }) => TODAY.has(bare))) return null;
  const told = words.flatMap(({ bare }) => (UNTELLING.has(bare) ? [] : termsIn(bare)));
  const isAboutIt = told.length > 0 || words.some(({ bare }) => bare === THERE);
  const said = new Set([...OPEN, ...termsIn(last.result.content)]);
  const { name, arguments: given } = last.call;
  return isAboutIt && told.every((term) => said.has(term)) ? { name, arguments: given } : null;
}
