import type { ToolDescriptor } from "../protocol/generated.ts";
import { ableTo } from "./carrying.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";
import { isFile } from "./reading.ts";
import { changesAmong } from "./taking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/*
 * A wish that takes back what the turn before it added to a file: "delete it" after "add tea to list.txt" means the entry. Of such a
 * wish a small model deletes the whole file.
 */

type Tools = readonly ToolDescriptor[];

const LEADING = [vocabulary.correctingWords, vocabulary.fillers, vocabulary.cues, vocabulary.followLeads].flat();
const LEADS = `(?:(?:${anyOf(LEADING)})[,.!:]? )*`;
const END = `(?:,? (?:${anyOf([...wishWords.tails, ...vocabulary.repeatingTails])}))*[?.!]*$`;
const TAKEN = `(?:it|that|this|(?:that|this|the) (?:one|${anyOf(vocabulary.entryNouns)}))`;
/** Verbs that take something out only where they say so: "take it off", and not "take it". */
const LOOSE = vocabulary.looseVerbs;
const TAKES = anyOf(
  [...vocabulary.discardingVerbs, ...vocabulary.strikingVerbs].filter((verb) => !LOOSE.includes(verb)),
);
const OFF = ` (?:${anyOf(vocabulary.takenEnds)})`;
const UNDOES = anyOf(vocabulary.undoingPhrases);
const BACK = new RegExp(
  `^${LEADS}(?:(?:${TAKES}) ${TAKEN}(?:${OFF})?|(?:${anyOf(LOOSE)}) ${TAKEN}${OFF}|(?:${UNDOES}))${END}`,
  "i",
);
const BULLET = /^[ \t]*(?:[-*+] )?(?:\[[ xX]\] )?/;
/** What the name of a tool says that changes a part of a file. */
const PARTS: ReadonlySet<string> = new Set(vocabulary.partChangers);

/** The wish to take the one line out of its file that the last turn added there; empty for any other wish. */
export function entryTakenBack(text: string, messages: readonly Message[], tools: Tools): string {
  const adder = ableTo("add", tools);
  const turnId = messages.at(-1)?.turnId;
  if (adder === null || turnId === undefined || !BACK.test(text)) return "";
  const calls = callsAmong(messages).filter((each) => each.turnId === turnId);
  const [done, ...others] = changesAmong(calls, tools);
  if (done === undefined || others.length > 0 || done.call.name !== adder.tool) return "";
  const [file, added] = [adder.path, adder.rest].map((name) => String(done.call.arguments[name]));
  // What was looked at after it may be meant as well.
  const later = calls.slice(calls.indexOf(done));
  if (later.some(({ call }) => !Object.values(call.arguments).includes(file))) return "";
  const entry = (added as string).trim().replace(BULLET, "").trim();
  const isPlain = isFile(file as string) && !file?.includes(" ") && /^[^"“”„`\n]+$/.test(entry);
  return isPlain ? `remove "${entry}" from ${file}` : "";
}

/** Whether the newest change of the conversation was one of a part of this file: what "it" is then, is in doubt. */
export function changedInside(path: string, messages: readonly Message[], tools: Tools): boolean {
  const last = changesAmong(callsAmong(messages), tools).at(-1);
  if (last === undefined || !partsOf(last.call.name).some((part) => PARTS.has(part))) return false;
  return Object.entries(last.call.arguments).some(([name, value]) => slotOf(name) === "path" && value === path);
}

/** The calls that went well. */
function callsAmong(messages: readonly Message[]): ToolMessage[] {
  return messages.filter((each): each is ToolMessage => each.role === "tool" && each.result.outcome === "ok");
}
