import limits from "../../../loop/limits.json" with { type: "json" };
import type { ToolCall, ToolDescriptor } from "../protocol/generated.ts";
import type { ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";
import { vocabulary } from "./vocabulary.ts";
import { QUOTED, type Word, withoutGiven, wordsOf } from "./words.ts";

/*
 * What a message asks to be done, and which calls do it. Only what is plain: a verb where a wish begins, and the names of things
 * that stand right after it. A wish in other words is not seen here, and nothing is said of it.
 */

/** What people ask for by a verb. `read` changes nothing. */
export type Act = keyof typeof vocabulary.acts;

type Tools = readonly Pick<ToolDescriptor, "name" | "category">[];

/** As much of a call as tells what it is about. */
export type NamedCall = Pick<ToolCall, "name" | "arguments">;

/** A call that has closed, as far as a turn's words are held against it. */
export type ClosedCall = Pick<ToolMessage, "result"> & { readonly call: NamedCall };

/** Words of an order that describes nothing: "delete it". */
const BARE = 2;

/** One verb of a message, the place where it begins, and the things that are named right after it. */
export interface AskedAct {
  readonly at: number;
  readonly act: Act;
  readonly verb: string;
  readonly things: readonly string[];
}

export const ACTS = Object.entries(vocabulary.acts) as [Act, (typeof vocabulary.acts)[Act]][];

const ACT_OF: ReadonlyMap<string, Act> = new Map(ACTS.flatMap(([act, { verbs }]) => verbs.map((verb) => [verb, act])));
const CUES: ReadonlySet<string> = new Set(vocabulary.cues);
const LEADING: ReadonlySet<string> = new Set([...vocabulary.cues, ...vocabulary.fillers]);
const CONDITIONS: ReadonlySet<string> = new Set(vocabulary.conditions);
const QUESTIONS: ReadonlySet<string> = new Set(vocabulary.questionWords);
/** Categories of tools that can do whatever they are told. */
const FREE: ReadonlySet<string> = new Set(["execute", "admin"]);
/** Characters of a message that is read for what it asks. A longer one holds a text to work on. */
const OUT_OF: ReadonlySet<string> = new Set(["from", "off", "out"]);
const MAX_MESSAGE = limits.actions * limits.actionCharacters;

/** A thing that is taken away or sent, and that is told by a description: "delete the one about the printer". */
const TAKING = ["delete", "move", "send"].flatMap((act) => vocabulary.acts[act as Act].verbs);
const POINTED = new RegExp(
  `^(?:${TAKING.join("|")}) (?:${vocabulary.pointingWords.join("|")})\\b(?:[^.,;:!?\\n]|[.,:!?](?=[^ \\n]))*`,
  "i",
);

const PART = new RegExp(`[,;!\\n]|\\.(?= |$)|\\b(?:${vocabulary.cues.join("|")})\\b`, "i");
const ASKS = new RegExp(`\\?|\\b(?:${vocabulary.questionWords.join("|")})\\b`, "i");
/** What may say of a thing that nothing is to be done with it. */
const SPARES = new RegExp(
  `\\b(?:[a-z]+n['’]t|${[...vocabulary.letBe, ...vocabulary.sparingWords, ...vocabulary.exceptingWords].join("|")})\\b`,
  "i",
);
const PAUSED = /[,;.:!?]["'`)]*$/;
const WISH_NAMED = /`([^`]*)`/g;
const STOPPED = /[;.!?]["'`)]*$|\n/;
const ENDINGS = [...vocabulary.fileEndings, ...vocabulary.fileEndings.map((ending) => ending.toUpperCase())];
/** A file with its ending, an address, or a path. A number or an ellipsis is none, and digits only with an ending of files. */
const THING = new RegExp(
  `^(?:[^/]*[^/.0-9][^/]*\\.[A-Za-z][A-Za-z0-9]*|[0-9][0-9.]*\\.(?:${ENDINGS.join("|")})|[^@]+@[^@]+\\.[A-Za-z]+|.*[^.]/.*)$`,
  "s",
);

/** What a message asks to be done, in order. Quoted words ask for nothing, and neither does a question how to do it. */
export function askedActs(said: string): AskedAct[] {
  if (said.length > MAX_MESSAGE) return [];
  const message = withoutGiven(said);
  const words = wordsOf(message);
  const quoted = [...message.matchAll(QUOTED)].map((match) => [match.index, match.index + match[0].length] as const);
  return words.flatMap((word, at) => {
    const act = ACT_OF.get(word.bare);
    const isQuoted = quoted.some(([start, end]) => start <= word.start && word.end <= end);
    if (act === undefined || isQuoted || addsUp(words, at) || !beginsWish(message, words, at)) return [];
    const things = thingsOf(act, message, words, at);
    const isOut = act === "delete" && takesOut(things, message, words.slice(at));
    return [{ at: word.start, act: isOut ? "write" : act, verb: word.bare, things }];
  });
}

/** Whether something is taken out of a file, which stays: "remove milk from list.txt". */
function takesOut([thing = "/", ...more]: readonly string[], message: string, words: readonly Word[]): boolean {
  const named = words.findIndex((word) => nameOf(message, word) !== null);
  return more.length === 0 && !thing.endsWith("/") && words.slice(0, named).some(({ bare }) => OUT_OF.has(bare));
}

/**
 * What a message plainly asked for and no call of its turn was about, as `verb thing`. A turn without a call leaves nothing
 * undone: its answer speaks for itself. What stands under a condition is left alone.
 */
export function leftUndone(message: string, closed: readonly ClosedCall[], tools: Tools): string[] {
  if (closed.length === 0 || wordsOf(message).some(({ bare }) => CONDITIONS.has(bare))) return [];
  const acts = askedActs(message);
  const undone = acts.flatMap((asked) => {
    const made = closed.map(({ call }) => call).filter((call) => asked.act === "read" || does(asked.act, call, tools));
    // In "list a/ and show me b.txt" the listing is what was asked for first, and shows no b.txt.
    const others = acts.flatMap((each) => (each === asked ? [] : each.things));
    const isOther = asked.act === "read" && made.every((call) => others.some((thing) => isAbout(call, thing)));
    const calls = isOther ? made.filter((call) => asked.things.some((thing) => isAbout(call, thing))) : made;
    const isNone = calls.length === 0 && asked.things.length === 0;
    const pointed = isNone ? (POINTED.exec(message.slice(asked.at)) ?? []) : [];
    const isOnly = acts.length === 1 && asked.act === "delete";
    const left = pointed.filter((each) => !(isOnly && isTakenOut(each, closed)));
    return [...missingThings(asked, calls).map((thing) => `${asked.verb} ${thing}`), ...left];
  });
  return [
    ...new Set([
      ...undone,
      ...untouched(
        message,
        closed,
        acts.flatMap(({ things }) => things),
      ),
    ]),
  ];
}

/**
 * Whether an entry was taken out of a file that stays, which "delete it" may mean: out of the file that was looked at last, and
 * where nothing was looked at by a bare "it" only.
 */
function isTakenOut(pointed: string, closed: readonly ClosedCall[]): boolean {
  const edits = closed.filter(({ call }) => isEdit(call.name));
  const last = closed.findLast(({ call }) => !isEdit(call.name));
  if (last === undefined) return wordsOf(pointed).length === BARE;
  const paths = edits.flatMap(({ call }) => Object.entries(call.arguments).filter(([name]) => slotOf(name) === "path"));
  return paths.some(([, path]) => isAbout(last.call, `${path}`) || last.result.content.includes(`${path}`));
}

function isEdit(name: string): boolean {
  return partsOf(name).some((part) => part === "edit" || part === "replace");
}

/** The parts of an order that name things of which no call has one, whatever their verb is, beside those that were `judged` by it. */
function untouched(message: string, closed: readonly ClosedCall[], judged: readonly string[]): string[] {
  if (message.length > MAX_MESSAGE || ASKS.test(message) || SPARES.test(message)) return [];
  const told = withoutGiven(message).replaceAll(QUOTED, (quoted) => (quoted.includes(" ") ? "" : quoted));
  return told
    .split(PART)
    .map((part) => part.trim())
    .filter((part) => {
      const written = wordsOf(part).map(({ start, end }) => part.slice(start, end));
      const things = written.filter(isThing).map(bareThing);
      const isKnown = things.some((thing) => closed.some(({ call }) => isAbout(call, thing)));
      return things.length > 0 && !isKnown && !things.some((thing) => judged.includes(thing));
    });
}

/**
 * Whether words already name what was left undone, as it stands or as the wish that it is a part of: "`add wine to list.txt`"
 * names "add list.txt".
 */
export function isNamedIn(said: string, undone: string): boolean {
  const at = undone.indexOf(" ");
  const [verb, thing] = [undone.slice(0, at), undone.slice(at + 1)];
  const wishes = [...said.matchAll(WISH_NAMED)].map(([, wish = ""]) => wish);
  return (
    said.includes(undone) ||
    wishes.some((wish) => wish.includes(thing) && wordsOf(wish).some(({ bare }) => bare === verb))
  );
}

/**
 * The things that none of these calls names, all of them where there is no call at all. A call that names none of them may be
 * about all of them, such as one for their folder.
 */
export function missingThings(asked: AskedAct, calls: readonly NamedCall[]): string[] {
  const missing = asked.things.filter((thing) => !calls.some((call) => isAbout(call, thing)));
  return calls.length === 0 || missing.length < asked.things.length ? missing : [];
}

/** Whether a call can have done an act, by its tool's name and category. A tool whose name tells nothing may do anything. */
export function does(act: Act, call: NamedCall, tools: Tools): boolean {
  const parts = partsOf(call.name);
  const isOf = (calls: readonly string[]) => parts.some((part) => calls.includes(part));
  if (isOf(vocabulary.acts[act].calls)) return true;
  const category = tools.find(({ name }) => name === call.name)?.category;
  if (category !== undefined && FREE.has(category)) return true;
  return category !== "read" && !ACTS.some(([, { calls }]) => isOf(calls));
}

/** Whether a word is the name of a thing: a file, a folder or an address. */
export function isThing(text: string): boolean {
  return THING.test(bareThing(text));
}

/** A word without the quotes, brackets and stops around it. */
export function bareThing(text: string): string {
  return text.replace(/^["'`“([<@]+/, "").replace(/["'`”)\]>,;:.!?]+$/, "");
}

/** Whether it is "add up", which works a number out and writes nothing. */
function addsUp(words: readonly Word[], at: number): boolean {
  return words[at]?.bare === "add" && words[at + 1]?.bare === "up";
}

/** Whether a wish begins with this word: at the start, after a pause, or after words that lead into one. */
function beginsWish(message: string, words: readonly Word[], at: number): boolean {
  const [word, before] = [words[at], words[at - 1]];
  if (word === undefined || before === undefined) return true;
  if (!LEADING.has(before.bare) && !pauses(message, before, word)) return false;
  if (QUESTIONS.has(words[at - 2]?.bare ?? "")) return false;
  const stop = words.findLastIndex(
    (each, place) => place < at && STOPPED.test(message.slice(each.start, words[place + 1]?.start).replace(/ +$/, "")),
  );
  const [first, second] = words.slice(stop + 1, at).filter(({ bare }) => !LEADING.has(bare));
  // "By when do we have to send it?"
  const opener = vocabulary.leadingPrepositions.includes(first?.bare ?? "") ? second : first;
  return opener === undefined || !QUESTIONS.has(opener.bare);
}

/**
 * What an act is about, of the names after its verb. What is written is the file in which something is kept, and not the one that it
 * comes from: "save the total of costs.csv in sum.txt". Where something is moved to is no thing that is moved.
 */
function thingsOf(act: Act, message: string, words: readonly Word[], at: number): string[] {
  const things = thingsAfter(message, words, at);
  if (things.length !== 1 || !(act === "write" || act === "move")) return things;
  const place = words.findIndex((word, each) => each > at && nameOf(message, word) !== null);
  if (act === "move") return links(words.slice(at + 1, place)) ? [] : things;
  const rest = words.slice(place + 1);
  const stop = rest.findIndex((word, each) => CUES.has(word.bare) || pauses(message, words[place + each], word));
  const clause = stop < 0 ? rest : rest.slice(0, stop);
  const target = clause.find((word, each) => nameOf(message, word) !== null && links(clause.slice(0, each)));
  if (target !== undefined) return [nameOf(message, target) as string];
  return things;
}

/** Whether one of these words says that the place of something follows. */
function links(words: readonly Word[]): boolean {
  return words.some(({ bare }) => vocabulary.movingLinks.includes(bare));
}

/** The first name after a verb, before any pause or cue, and those that are listed with it. */
function thingsAfter(message: string, words: readonly Word[], at: number): string[] {
  const first = words.findIndex((word, place) => place > at && nameOf(message, word) !== null);
  const way = words.slice(at, first + 1);
  const isParted = way.some((word, place) => pauses(message, way[place - 1], word));
  if (isParted || way.slice(1, -1).some(({ bare }) => CUES.has(bare))) return [];
  const things: string[] = [];
  let [place, name] = [first, nameOf(message, words[first])];
  while (name !== null) {
    things.push(name);
    let isListed = pauses(message, words[place], words[place + 1]);
    for (place++; CUES.has(words[place]?.bare ?? ""); place++) isListed = true;
    name = isListed ? nameOf(message, words[place]) : null;
  }
  return things;
}

/** The name of a thing that a word is, or null. */
function nameOf(message: string, word: Word | undefined): string | null {
  const written = message.slice(word?.start ?? 0, word?.end ?? 0);
  return isThing(written) ? bareThing(written) : null;
}

/** Whether something between two words parts them. */
function pauses(message: string, before: Word | undefined, word: Word | undefined): boolean {
  if (before === undefined || word === undefined) return false;
  return PAUSED.test(message.slice(before.start, before.end)) || /[;\n]/.test(message.slice(before.end, word.start));
}

/** Whether an argument holds the name of a thing, which a folder's may without the slash at its end. */
export function isAbout(call: NamedCall, thing: string): boolean {
  return JSON.stringify(call.arguments).includes(thing.replace(/\/+$/, ""));
}
