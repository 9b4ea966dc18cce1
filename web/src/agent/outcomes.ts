import limits from "../../../loop/limits.json" with { type: "json" };
import { askedActs, bareThing, isThing } from "./acts.ts";
import { foldersSaid } from "./copied.ts";
import { placedPaper } from "./papers.ts";
import { stem } from "./ranking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { QUOTED, wordsOf } from "./words.ts";

/*
 * A wish whose object or content is what another one comes to: "find out what Raj owes and save it in lists/raj.txt", "delete the
 * newest report in reports/". What is to be found out and where it goes are read off the words, since a small model that is given
 * both writes down the request itself, or makes something up. Whatever is in doubt is no such wish.
 */

/** What is done with what was found. */
export type Carry = "keep" | "add" | "remove" | "move";

/**
 * `source` says what to find out, `kept` which part of it goes on ("its total", "it"), `target` where that goes: a file for what is
 * kept, a file or a folder for what is moved, empty for what is removed. Of what is moved or removed, `kept` is how the one file of
 * a folder is called ("the flyer"), where `source` only lists that folder.
 */
export interface OutcomeWish {
  readonly carry: Carry;
  readonly source: string;
  readonly kept: string;
  readonly target: string;
}

const LEAD = `(?:(?:${anyOf([...vocabulary.fillers, ...vocabulary.cues, ...wishWords.fillers])})[, ]+)*`;
const TAIL = `[.!?]*(?:,? (?:${anyOf([...wishWords.tails, ...wishWords.remarks])}))*[.!?]*$`;
const FILE = "[\"'`]?([^\\s\"'`,;:?!()]*[^\\s\"'`,;:?!()./]\\.[A-Za-z][A-Za-z0-9]*)[\"'`]?";
const PLACE = "(?:(?:the|my|our) )?[\"'`]?([^\\s\"'`,;:?!]*[^\\s\"'`,;:?!.])[\"'`]?(?: (?:folder|directory))?";
const POINTED = anyOf(vocabulary.pointedFiles);
const DESCRIBED = `(?:${anyOf(vocabulary.describedLeads)}) .+?`;
const LINKS = anyOf(vocabulary.movingLinks);
const KEPT_IN = `(?: (?:${anyOf(vocabulary.keptLeads)})(?: new)?(?: (?:file|note|list))?(?: (?:called|named))?)?`;
const DISCARDING = anyOf(vocabulary.discardingVerbs);
const MOVING = anyOf(vocabulary.movingVerbs);

const REMOVES = new RegExp(`^${LEAD}(?:${DISCARDING}) (${POINTED})(?: away| out)?${TAIL}`, "i");
const REMOVES_DESCRIBED = new RegExp(`^${LEAD}(?:${DISCARDING}) (${DESCRIBED})(?: away| out)?${TAIL}`, "i");
const MOVES = new RegExp(`^${LEAD}(?:${MOVING}) (${POINTED})(?: over)? (?:${LINKS}) ${PLACE}${TAIL}`, "i");
const MOVES_DESCRIBED = new RegExp(`^${LEAD}(?:${MOVING}) (${DESCRIBED})(?: over)? (?:${LINKS}) ${PLACE}${TAIL}`, "i");
const PUTS = new RegExp(`^${LEAD}(?:${anyOf(vocabulary.puttingVerbs)}) (${POINTED}) (?:${LINKS}) ${PLACE}${TAIL}`, "i");
const KEEPS = new RegExp(
  `^${LEAD}(${anyOf(vocabulary.keepingVerbs)})(?: down)? (.+?)(?: down)? ` +
    `(?:${anyOf(vocabulary.keepingLinks)})${KEPT_IN} ${FILE}${TAIL}`,
  "i",
);
/** A new file with what is in another one: "write dates.txt with all dates in notes.txt". */
const FILLS = new RegExp(
  `^${LEAD}(?:${anyOf(vocabulary.fillingVerbs)})(?: (?:${anyOf(vocabulary.keptLeads)}))?(?: new)?(?: file)?(?: (?:called|named))? ${FILE} ` +
    `(?:with|containing|listing) (.+? (?:in|from|of|out of) ${FILE})${TAIL}`,
  "i",
);
/** Where a clause may begin. */
const STARTS = /[,;:.?!]+ +|\n+| (?=(?:and|then|also) )/gi;
/** What the words before a clause end with, and what says nothing more of what is to be found out. */
const ENDING = new RegExp(
  `(?:[\\s,;:.!?]+|[\\s,;:.!?](?:${anyOf([...vocabulary.cues, ...vocabulary.emptyAsks])})|` +
    `^(?:${anyOf(vocabulary.emptyAsks)}))$`,
  "i",
);
const LISTED = new RegExp(`\\b(?:${anyOf(vocabulary.listingPhrases)})\\b`, "i");
const LOOKING: ReadonlySet<string> = new Set(vocabulary.lookingVerbs);
const ADDING: ReadonlySet<string> = new Set(vocabulary.addingVerbs);
const LEANING: ReadonlySet<string> = new Set(vocabulary.leaningWords);
const NOUNS: ReadonlySet<string> = new Set([...wishWords.results, ...vocabulary.keptNouns]);
const DETERMINERS: ReadonlySet<string> = new Set(wishWords.determiners);
const CONDITIONS: ReadonlySet<string> = new Set([...vocabulary.conditions, "not", "don't", "dont", "never", "without"]);
/** What is kept, told by what it is of: "the date of the next meeting". What it is only a look tells. */
const OF_SOMETHING = new RegExp(
  `^(?:the|my|our) (?:[a-z-]+ ){0,2}?(?:${anyOf(vocabulary.toldAttributes)}) (?:of|for) [^0-9:"]+$`,
  "i",
);
const MOST_MESSAGE = limits.actions * limits.actionCharacters;
/** Words of what is kept among which the noun for it stands: "the phone number of Bob". */
const MOST_WORDS = 5;
const FEW = 3;

/** The wish of a message that stands on what another one of it comes to; null where the words do not show both. */
export function outcomeIn(message: string): OutcomeWish | null {
  const text = message.trim();
  const isDoubtful = wordsOf(text.replaceAll(QUOTED, " ")).some(({ bare }) => CONDITIONS.has(bare));
  if (text.length > MOST_MESSAGE || isDoubtful) return null;
  const starts = [0, ...[...text.matchAll(STARTS)].map((found) => found.index + found[0].length)];
  for (const start of starts.toReversed()) {
    const wish = wishAt(text, start);
    if (wish !== null) return wish;
  }
  return null;
}

/** The files that words name. */
export function filesIn(text: string): string[] {
  const names = wordsOf(text).map(({ start, end }) => bareThing(text.slice(start, end)));
  return [...new Set(names.filter((name) => isThing(name) && !name.endsWith("/") && !name.includes("@")))];
}

/** The wish whose second half begins here; none where there is a further change before it, which would be lost. */
function wishAt(text: string, start: number): OutcomeWish | null {
  const before = sourceOf(text.slice(0, start));
  const clause = text.slice(start);
  if (askedActs(before).some(({ act }) => act !== "read")) return null;
  return removed(before, clause) ?? moved(before, clause) ?? kept(before, clause);
}

/** The words before a clause, without those that only lead over to it. */
function sourceOf(text: string): string {
  let rest = text;
  while (ENDING.test(rest)) rest = rest.replace(ENDING, "");
  return rest.trim();
}

function removed(before: string, clause: string): OutcomeWish | null {
  const found = (before === "" ? REMOVES_DESCRIBED : REMOVES).exec(clause);
  if (found === null && lists(before)) {
    const name = REMOVES_DESCRIBED.exec(clause)?.[1];
    const isTold = name !== undefined && isUnplaced(name);
    return isTold ? { carry: "remove", source: before, kept: name, target: "" } : null;
  }
  const source = before || (found?.[1] ?? "");
  if (found === null || filesIn(source).length > 0) return null;
  return { carry: "remove", ...takenFrom(before, source), target: "" };
}

function moved(before: string, clause: string): OutcomeWish | null {
  const put = PUTS.exec(clause);
  const found = before === "" ? MOVES_DESCRIBED.exec(clause) : (MOVES.exec(clause) ?? put);
  if (found === null && lists(before)) {
    const [, name, place = ""] = MOVES_DESCRIBED.exec(clause) ?? [];
    const isTold = name !== undefined && isUnplaced(name);
    return isTold ? { carry: "move", source: before, kept: name, target: place } : null;
  }
  const [, described = "", target = ""] = found ?? [];
  const source = before || described;
  const isKept = put !== null && filesIn(target).length > 0;
  if (target === "" || isKept || filesIn(source).length > 0) return null;
  return { carry: "move", ...takenFrom(before, source), target };
}

/** Where a thing is told by its name and its folder, a look into that folder, and its name. */
function takenFrom(before: string, source: string): Pick<OutcomeWish, "source" | "kept"> {
  const placed = before === "" ? placedPaper(source) : null;
  return placed === null ? { source, kept: "" } : { source: `list ${placed.folder}/`, kept: placed.name };
}

/** Whether words say neither which file is meant nor in which folder it is. */
function isUnplaced(thing: string): boolean {
  return filesIn(thing).length === 0 && placedPaper(thing) === null;
}

/** Whether words only ask to see what is in a folder: "see which files are in old", "list old/". */
function lists(before: string): boolean {
  const isLook = wordsOf(before).some(({ bare }) => LOOKING.has(bare)) || LISTED.test(before);
  return isLook && foldersSaid(before).length === 1 && filesIn(before).length === 0;
}

function kept(before: string, clause: string): OutcomeWish | null {
  const [, filled = "", told = "", from = ""] = (before === "" && FILLS.exec(clause)) || [];
  if (filled !== from && clause.search(QUOTED) < 0) return { carry: "keep", source: told, kept: told, target: filled };
  const [, verb = "", what = "", target = ""] = KEEPS.exec(clause) ?? [];
  if (target === "" || what.search(QUOTED) >= 0) return null;
  const carry = ADDING.has(verb.toLowerCase()) ? "add" : "keep";
  const [named, ...more] = filesIn(what);
  if (before !== "") {
    const isTold = (isLeaning(what) || namesAgain(what, before)) && named === undefined && filesIn(before).length < 2;
    return isTold ? { carry, source: before, kept: what, target } : null;
  }
  if (named === undefined && OF_SOMETHING.test(what)) return { carry, source: `what is ${what}?`, kept: what, target };
  const isCopied = verb.toLowerCase() === "copy";
  const isTold = isCopied || (bareThing(what) !== named && isLeaning(what));
  if (named === undefined || more.length > 0 || named === target || !isTold) return null;
  return { carry, source: what, kept: what, target };
}

/** Whether what is kept is what the words before it look for: "check a.log for warnings and save the warning in b.txt". */
function namesAgain(what: string, before: string): boolean {
  const words = wordsOf(what).map(({ bare }) => bare);
  const looked = new Set(wordsOf(before).map(({ bare }) => stem(bare.replace(/s$/, ""))));
  const isShort = words.length > 1 && words.length <= FEW;
  return isShort && words[0] === "the" && words.slice(-1).some((word) => looked.has(stem(word.replace(/s$/, ""))));
}

/** Whether what is kept is what something comes to: "it", "the date", "how many there are". */
function isLeaning(what: string): boolean {
  const [first = "up", ...rest] = wordsOf(what).map(({ bare }) => bare);
  if (first === "up") return false;
  const isNamed = DETERMINERS.has(first) && rest.slice(0, MOST_WORDS - 1).some((word) => NOUNS.has(word));
  return LEANING.has(first) || isNamed;
}
