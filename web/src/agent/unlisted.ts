import type { ToolDescriptor } from "../protocol/generated.ts";
import { type ClosedCall, isAbout } from "./acts.ts";
import { isAsserted, isOwn } from "./assertions.ts";
import type { ClaimClause } from "./claim-clauses.ts";
import { claimWords, formsOf } from "./claim-words.ts";
import { partsOf } from "./names.ts";
import { stem, termsIn } from "./ranking.ts";
import { wordsAbout } from "./recorded.ts";
import { isHistory, reportsAct } from "./reported.ts";
import { vocabulary } from "./vocabulary.ts";
import { undoubled } from "./wished.ts";
import { wordsOf } from "./words.ts";

/*
 * Claims of acts for which no list has a verb: "the picture is resized", "I have zipped the folder". What a tool on offer does is
 * told by its own name and description, so a past form of a word out of them claims a call of that tool. Of any other verb it is a
 * claim where its thing is one that tools are for. After a change it may be another word for that, unless it speaks of something
 * else.
 */

type WordSet = ReadonlySet<string>;

/** A tool on offer, as far as claims are held against it. */
export type ToolOnOffer = Pick<ToolDescriptor, "name" | "category"> & Partial<Pick<ToolDescriptor, "description">>;

/** What such a claim is held against. */
export interface UnlistedBasis {
  /** What the person said. */
  readonly message: string;
  /** The calls of the conversation that went well. */
  readonly before: readonly ClosedCall[];
  /** Those of the turn that changed something. */
  readonly changes: readonly ClosedCall[];
  readonly tools: readonly ToolOnOffer[];
}

const PLAIN: WordSet = new Set([...claimWords.plain, ...claimWords.be, ...claimWords.have, ...claimWords.adverbs]);
const OWN: WordSet = new Set(claimWords.own);
const NOUNS: WordSet = new Set(claimWords.reportedNouns);
const ANY: WordSet = new Set(claimWords.anyChange);
const SHORTEST_PAST = 4;
/** What an answer does by itself: "I have counted the lines". */
const TELLING: WordSet = new Set([...claimWords.telling, ...claimWords.answering].map(termOf));

/** Whether a sentence claims such an act without a call for it. `canReport`: an answer, and no draft of a text. */
export function claimsUnlisted(
  sentence: string,
  clauses: readonly ClaimClause[],
  basis: UnlistedBasis,
  canReport: boolean,
): boolean {
  const offered = new Set(basis.tools.filter(({ category }) => category !== "read").flatMap(termsOf));
  const names = new Set(basis.before.map(({ call }) => call.name));
  const called = new Set(basis.tools.filter(({ name }) => names.has(name)).flatMap(termsOf));
  return clauses.some((clause, number) =>
    clause.words.some((word, at) => {
      const term = termOf(word);
      if (!isPast(word) || called.has(term) || !isAsserted(clauses, number, at, "past")) return false;
      const isSaid = says(clause, at, word, basis, offered.has(term), canReport);
      return isSaid && !isTold(term, sentence, basis) && (offered.has(term) || !isOfChange(clause, basis));
    }),
  );
}

/** A verb without the ending of its past: "copy" of "copied", "stop" of "stopped". */
function termOf(word: string): string {
  return undoubled(stem(word.endsWith("ied") ? `${word.slice(0, -3)}y` : word));
}

function termsOf({ name, description = "" }: ToolOnOffer): string[] {
  return [...partsOf(name), ...wordsOf(description).map(({ bare }) => bare)].map(termOf);
}

function isPast(word: string): boolean {
  return word.endsWith("ed") && word.length >= SHORTEST_PAST && !PLAIN.has(word) && formsOf(word).length === 0;
}

/** Whether the word says that the agent did it, or that it came to pass with a thing that tools are for. */
function says(
  clause: ClaimClause,
  at: number,
  word: string,
  { before }: UnlistedBasis,
  isOffered: boolean,
  canReport: boolean,
): boolean {
  const { words } = clause;
  const things = [...clause.things];
  if (isHistory(words)) return false;
  const looks = before.some(({ call }) => things.some((thing) => isAbout(call, thing)));
  if (!isOffered && TELLING.has(termOf(word)) && (looks || things.length === 0)) return false;
  if (isOwn(words, at)) {
    const hasNoun = isOffered || words.slice(at + 1).some((each) => NOUNS.has(each));
    return things.length > 0 || (canReport && hasNoun && words.some((each) => OWN.has(each)));
  }
  const isFound = before.some(({ result }) => things.some((thing) => result.content.includes(thing)));
  return canReport && reportsAct(clause, at, "past", isFound, isOffered);
}

/** Whether a result says so: in these words, or in a line with this verb that shares more than chance. */
function isTold(term: string, sentence: string, { before }: UnlistedBasis): boolean {
  if (before.some(({ result }) => result.content.includes(sentence.trim()))) return true;
  const terms = new Set(termsIn(sentence));
  const lines = before.flatMap(({ result }) => result.content.split("\n"));
  const same = lines.filter((line) => wordsOf(line).some(({ bare }) => termOf(bare) === term));
  return same.some((line) => new Set(termsIn(line).filter((each) => terms.has(each))).size > 1);
}

/**
 * Whether it may be another word for a change of the turn: its things are those of the change, or it names none that the person
 * meant by another wish.
 */
function isOfChange({ words, things }: ClaimClause, { message, changes }: UnlistedBasis): boolean {
  if (changes.length === 0) return false;
  if (things.size > 0)
    return changes.some(({ call, result }) =>
      [...things].some((thing) => isAbout(call, thing) || result.content.includes(thing)),
    );
  const covered = new Set(changes.flatMap(wordsAbout).map(stem));
  const spoken = new Set(wordsOf(message).map(({ bare }) => bare));
  const isList = /[,;]/.test(message) || vocabulary.cues.some((cue) => spoken.has(cue));
  const others = words.filter((word) => NOUNS.has(word) && !ANY.has(word) && !covered.has(stem(word)));
  return others.every((word) => spoken.has(word) && !isList);
}
