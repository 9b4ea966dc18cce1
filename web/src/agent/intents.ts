import limits from "../../../loop/limits.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolCall } from "../protocol/generated.ts";
import { beginning } from "./budget.ts";
import type { ChatMessage, JsonSchema } from "./chat.ts";
import type { Observation } from "./messages.ts";
import { isParseFailure, readReply } from "./parse.ts";
import { neutralise } from "./provenance.ts";
import { vocabulary } from "./vocabulary.ts";
import { QUOTED, type Word, wordsOf } from "./words.ts";

/*
 * Several wishes in one message: when to ask a model to take it apart, and how much of its answer to believe. The model only
 * proposes where to cut. What comes out are stretches of the person's own message, in order, with nothing between them but
 * words that ask for nothing; whatever is in doubt leaves the message whole.
 */

const MAX_ACTIONS = limits.actions;
const MAX_ACTION_LENGTH = limits.actionCharacters;
/** Characters of a message that is taken apart. A longer one holds a text to work on. */
const MAX_MESSAGE = MAX_ACTIONS * MAX_ACTION_LENGTH;
/** Characters of a line of the progress block, its dash included. */
const MAX_LINE = limits.progressLineCharacters;
/** Words between two wishes. More are a text, not a manner of speaking. */
const MAX_FILLERS = limits.fillerWords;

const CUES: ReadonlySet<string> = new Set(vocabulary.cues);

/** Words that may stand between two wishes, or around them, without being a part of either. */
const FILLERS: ReadonlySet<string> = new Set([...CUES, ...vocabulary.fillers]);

/** A wish that depends on another is none without it. */
const CONDITIONS: ReadonlySet<string> = new Set(vocabulary.conditions);

/** Words by which a wish means figures that stand beside it. */
const REFERENCES: ReadonlySet<string> = new Set(vocabulary.figureReferences);

/** What a line of figures does not hold. */
const WORDED = /[^\t 0-9.,:;/+*%()€$£¥#•-]/;
const CUT = /[,;.!?\n]/;
const END = /[,;.:!?]+$/;
/** No list: these two, after "and", are what was measured. */
const AND_THEN = /,? and (?:then|also) /gi;
const PAUSE = /[,;.:]+$/;
const BLANK = /[\p{Cc}\u0020\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]+/gu;

/** A call that has closed, as the model is reminded of it. */
export interface Completed {
  readonly tool: string;
  readonly summary: string;
}

/** A stretch of the message: its first and last word, and as text with what it takes over from the part before. */
interface Part {
  readonly first: Word;
  readonly last: Word;
  readonly text: string;
}

/** Whether a message may ask for more than one thing: only then is the model asked what. Quoted text asks for nothing. */
export function hasCue(message: string): boolean {
  if (message.length > MAX_MESSAGE) return false;
  const unquoted = message.replace(QUOTED, " ");
  return unquoted.includes(";") || wordsOf(unquoted).some(({ bare }) => CUES.has(bare));
}

/** The prompt that takes a message apart. */
export function probePrompt(message: string): ChatMessage[] {
  const { system, shots } = words.probe;
  return [
    { role: "system", content: system },
    ...shots.flatMap((shot): ChatMessage[] => [
      { role: "user", content: shot.user },
      { role: "assistant", content: JSON.stringify({ requestedActions: shot.actions }) },
    ]),
    { role: "user", content: simplified(neutralise(apart(message).wishes)) },
  ];
}

/** What the model may reply to the probe. */
export function probeSchema(): JsonSchema {
  const action = { type: "string", minLength: 1, maxLength: MAX_ACTION_LENGTH };
  const actions = { type: "array", minItems: 1, maxItems: MAX_ACTIONS, items: action };
  return {
    type: "object",
    properties: { requestedActions: actions },
    required: ["requestedActions"],
    additionalProperties: false,
  };
}

/** The wishes of a message, from what the model replied to the probe: at least two, or the message as it is. */
export function readActions(text: string, message: string): string[] {
  const proposed = proposedIn(text);
  if (message.length > MAX_MESSAGE || proposed.length < 2 || proposed.length > MAX_ACTIONS) return [message];
  const { wishes, figures } = apart(message);
  const actions = cutUp(wishes, proposed);
  const meaning = actions.findIndex((action) => wordsOf(action).some(({ bare }) => REFERENCES.has(bare)));
  if (actions.length === 0 || (figures !== "" && meaning < 0)) return [message];
  return figures === "" ? actions : actions.map((each, at) => (at === meaning ? `${each}\n${figures}` : each));
}

/** One closed call in a few words. A result's content stays out: it is for reading, not for steering what comes next. */
export function summarise(
  call: Pick<ToolCall, "name" | "arguments">,
  { outcome }: Pick<Observation, "outcome">,
): Completed {
  const how = outcome === "ok" ? "done" : `not done, ${outcome}`;
  const given = Object.entries(call.arguments).map(([name, value]) => `${name}: ${told(value)}`);
  return { tool: call.name, summary: given.length === 0 ? how : `${how} (${given.join(", ")})` };
}

/** What a model is told of the steps behind it; nothing when there are none. */
export function progress(completed: readonly Completed[]): string {
  if (completed.length === 0) return "";
  const lines = completed.map(({ tool, summary }) => lineOf(`- ${tool}: ${summary}`));
  return [words.chained.completed, ...lines].join("\n");
}

/**
 * A message as a small model takes it apart best. Measured: it ends its string at a quotation mark that it copies, and reads
 * over "and then" and "and also" where it heeds a semicolon. Marks and cues are not compared, so nothing of it comes back.
 */
function simplified(message: string): string {
  return message.replaceAll('"', "'").replace(AND_THEN, "; ");
}

/** A message without the lines of figures that were pasted before or after its words, and those lines. */
function apart(message: string): { wishes: string; figures: string } {
  const lines = message.split("\n");
  const isWorded = (line: string) => WORDED.test(line);
  const [first, last] = [lines.findIndex(isWorded), lines.findLastIndex(isWorded)];
  if (first < 0) return { wishes: message, figures: "" };
  const around = [...lines.slice(0, first), ...lines.slice(last + 1)];
  const figures = around.filter((line) => /[0-9]/.test(line)).join("\n");
  return { wishes: figures === "" ? message : lines.slice(first, last + 1).join("\n"), figures };
}

/** The stretches of these words that the proposed actions stand for; none where that leaves a doubt. */
function cutUp(wishes: string, proposed: readonly string[]): string[] {
  if (wordsOf(wishes.replace(QUOTED, " ")).some(({ bare }) => CONDITIONS.has(bare))) return [];
  const parts: Part[] = [];
  let rest = wordsOf(wishes);
  for (const action of proposed) {
    const part = locate(bareWords(action), wishes, rest, parts.at(-1)?.text ?? "");
    if (part === null || !mayFollow(part, parts.at(-1), wishes)) return [];
    parts.push(part);
    rest = rest.filter(({ start }) => start > part.last.start);
  }
  return rest.every(({ bare }) => FILLERS.has(bare)) && isSound(parts) ? parts.map((part) => part.text) : [];
}

function proposedIn(text: string): string[] {
  const reply = readReply(text);
  const actions = isParseFailure(reply) ? [] : reply.requestedActions;
  if (!Array.isArray(actions)) return [];
  return actions.every((each) => typeof each === "string" && each.length <= MAX_ACTION_LENGTH) ? actions : [];
}

/**
 * Where an action stands in what is left of the message. It may begin as the part before it begins: "read a and b" asks to
 * read b.
 */
function locate(action: readonly string[], message: string, words: readonly Word[], before: string): Part | null {
  const taken = wordsOf(before);
  for (const [at, bare] of action.entries()) {
    const found = stretch(action.slice(at), words);
    if (found !== null) {
      const own = message.slice(found.first.start, found.last.end).replace(PAUSE, "");
      const head = at === 0 ? "" : before.slice(0, taken[at - 1]?.end);
      return { ...found, text: head === "" ? own : `${head} ${own}` };
    }
    if (at >= taken.length - 1 || taken[at]?.bare !== bare) return null;
  }
  return null;
}

/** The first stretch that holds the action's words in order, with nothing but fillers before it. */
function stretch(action: readonly string[], words: readonly Word[]): { first: Word; last: Word } | null {
  for (const [at, first] of words.slice(0, MAX_FILLERS + 1).entries()) {
    const last = first.bare === action[0] ? lastOf(action.slice(1), words.slice(at + 1), first) : null;
    if (last !== null) return { first, last };
    if (!FILLERS.has(first.bare)) return null;
  }
  return null;
}

function lastOf(action: readonly string[], words: readonly Word[], first: Word): Word | null {
  let [last, at] = [first, 0];
  for (const word of words)
    if (word.bare === action[at]) {
      last = word;
      at++;
    }
  return at === action.length ? last : null;
}

/** Whether something between two parts parts them: a cue or a mark, and not inside quotes. */
function mayFollow({ first }: Part, before: Part | undefined, message: string): boolean {
  if (before === undefined) return true;
  const quoted = [...message.matchAll(QUOTED)].map((match) => [match.index, match.index + match[0].length] as const);
  if (quoted.some(([start, end]) => start < first.start && first.start < end)) return false;
  const { start, end } = before.last;
  const between = message.slice(start + message.slice(start, end).replace(END, "").length, first.start);
  return CUT.test(between) || wordsOf(between).some(({ bare }) => CUES.has(bare));
}

/** Whether no part is said twice, is a single word or is longer than an action may be. */
function isSound(parts: readonly Part[]): boolean {
  const bare = parts.map((part) => bareWords(part.text));
  return (
    new Set(bare.map((each) => each.join(" "))).size === parts.length &&
    bare.every((each) => each.length > 1) &&
    parts.every((part) => part.text.length <= MAX_ACTION_LENGTH)
  );
}

/** The words of an action without the cues that lead in or out. */
function bareWords(text: string): string[] {
  const bare = wordsOf(text).map((word) => word.bare);
  const first = bare.findIndex((word) => !CUES.has(word));
  const last = bare.findLastIndex((word) => !CUES.has(word));
  return first < 0 ? [] : bare.slice(first, last + 1);
}

function told(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function lineOf(text: string): string {
  const line = neutralise(text.replace(BLANK, " ")).trim();
  return line.length <= MAX_LINE ? line : `${beginning(line, MAX_LINE - 1)}…`;
}
