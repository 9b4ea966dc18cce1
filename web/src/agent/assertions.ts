import { type ClaimClause, THING } from "./claim-clauses.ts";
import { claimWords, type Form, formsOf } from "./claim-words.ts";

/*
 * Whether a clause says that something is so: denied, wished for, possible, conditional, general and somebody else's is not. A word
 * is judged by the helpers right before it and by what stands in its own clause. In doubt it is said: a sentence that is left out
 * costs less than one that is false.
 */

type Words = readonly string[];
type WordSet = ReadonlySet<string>;

const BE: WordSet = new Set(claimWords.be);
const HAVE: WordSet = new Set([...claimWords.have, "'d"]);
const ADVERBS: WordSet = new Set(claimWords.adverbs);
const CHAINED: WordSet = new Set(claimWords.chained);
const MODALS: WordSet = new Set([...claimWords.modals, ...claimWords.chained, "to"]);
const NEGATIONS: WordSet = new Set(claimWords.negations);
const HELPERS: WordSet = new Set([...BE, ...HAVE, ...ADVERBS, ...CHAINED, ...claimWords.linking]);
const FINITE: WordSet = new Set(claimWords.finite);
const PAST: WordSet = new Set(claimWords.past);
const OWN: WordSet = new Set(claimWords.own);
const SUBJECTS: WordSet = new Set([...claimWords.own, ...claimWords.machines, THING]);
const OTHERS: WordSet = new Set(claimWords.others);
const DETERMINERS: WordSet = new Set(claimWords.determiners);
const OBJECTS: WordSet = new Set([...claimWords.determiners, "it", "them", THING]);
const INDEFINITE: WordSet = new Set(claimWords.indefinites);
const ONE: WordSet = new Set(["a", "an", "some"]);
const AFTERWARDS: WordSet = new Set(claimWords.afterwards);
const DENIALS: WordSet = new Set(claimWords.denials);
const WHOLE: WordSet = new Set(claimWords.whole);
const OPENERS: WordSet = new Set([...claimWords.openers, ...claimWords.adverbs]);
const IMPLICATIVES: WordSet = new Set(claimWords.implicatives);
const REPORTING: WordSet = new Set(claimWords.reporting);
const REPORTED_WITH: WordSet = new Set(["can", "will", "to", "able"]);
const UNREAL: WordSet = new Set(claimWords.unreal);
const ASPECTS: WordSet = new Set(claimWords.aspects);
const RAISING: WordSet = new Set(claimWords.raising);
const CONDITIONS: WordSet = new Set(claimWords.conditions);
const TIMES: WordSet = new Set(claimWords.times);

const holdsAny = (words: Words, wanted: WordSet) => words.some((word) => wanted.has(word));

const wordAt = (words: Words, place: number) => words[place] ?? "";

/** Whether the word at this place of a clause says that its act was done, or is being done. */
export function isAsserted(clauses: readonly ClaimClause[], number: number, place: number, form: Form): boolean {
  const all = wordsAt(clauses, number);
  const start = afterReport(all, place);
  if (start === null) return false;
  const words = all.slice(start);
  const at = place - start;
  const begins = chainBefore(words, at);
  // A state may begin with its own verb: "is dark".
  const holdsVerb = form === "state" && hasOwnVerb(words.slice(at, at + 1));
  const chain = words.slice(begins, holdsVerb ? at + 1 : at);
  if (isDenied(words, at, begins) || isPossible(words, chain) || isConditional(clauses, number, words, at, chain))
    return false;
  switch (form) {
    case "base":
      return isOwnDoing(words, begins, chain) || chain.includes("did") || followsSuccess(words, begins, chain);
    case "going on":
      return goesOn(words, at, begins, chain);
    case "state":
      return !(isGeneralState(words, begins) || isWished(words, begins, chain));
    case "past":
    case "same":
      return isPast(clauses, number, words, at, begins, form);
  }
}

/** Whether the agent says it of itself: "I deleted", "Deleted dinner.txt", "was deleted by me". */
export function isOwn(words: Words, at: number): boolean {
  const begins = chainBefore(words, at);
  const opens = words.slice(0, begins).every((word) => OPENERS.has(word));
  const byOwn = /(?:^| )by (?:me|us)(?: |$)/.test(words.slice(at).join(" "));
  return byOwn || (opens && !holdsAny(words.slice(begins, at), BE)) || OWN.has(wordAt(words, begins - 1));
}

/** Whether a clause speaks of any such thing, or of the doing itself: "deleting a file". */
export function isGeneral(clause: ClaimClause): boolean {
  const first = clause.words.find((word) => !OPENERS.has(word));
  return first !== undefined && (INDEFINITE.has(first) || formsOf(first).some(({ form }) => form === "going on"));
}

function wordsAt(clauses: readonly ClaimClause[], number: number): Words {
  return clauses.slice(number, number + 1).flatMap(({ words }) => words);
}

function isPast(
  clauses: readonly ClaimClause[],
  number: number,
  words: Words,
  at: number,
  begins: number,
  form: Form,
): boolean {
  const chain = words.slice(begins, at);
  const opens = words.slice(0, begins).every((word) => OPENERS.has(word));
  if (form === "same" && opens && !hasOwnVerb(chain)) return false;
  if (isWished(words, begins, chain) || isOthers(clauses, number, words, at, begins)) return false;
  if (continues(clauses, number)) return false;
  return !(isAttribute(words, at, begins, opens) || isGeneralAct(words, at, begins, chain));
}

/**
 * Where what is reported begins: in "I can confirm that it is gone" behind "confirm". Null where nothing is reported yet, as in "it
 * would say that".
 */
function afterReport(words: Words, at: number): number | null {
  const place = words.slice(0, at).findLastIndex((word) => REPORTING.has(word));
  const before = words.slice(0, Math.max(0, place));
  if (holdsAny(before, UNREAL)) return null;
  const hinders = (word: string) =>
    (MODALS.has(word) && !REPORTED_WITH.has(word)) || NEGATIONS.has(word) || CONDITIONS.has(word) || TIMES.has(word);
  return before.some(hinders) ? 0 : place + 1;
}

/** Where the helpers and adverbs right before a word begin. */
export function chainBefore(words: Words, at: number): number {
  return words.slice(0, at).findLastIndex((word) => !HELPERS.has(word)) + 1;
}

function hasOwnVerb(chain: Words): boolean {
  return chain.some((word) => BE.has(word) || HAVE.has(word));
}

function isOwnDoing(words: Words, begins: number, chain: Words): boolean {
  return OWN.has(wordAt(words, begins - 1)) && chain.every((word) => ADVERBS.has(word));
}

function isDenied(words: Words, at: number, begins: number): boolean {
  if (DENIALS.has(wordAt(words, at + 1)) || holdsAny(words.slice(begins, at), NEGATIONS)) return true;
  return words.slice(0, begins).some((word, place) => NEGATIONS.has(word) && !crosses(words, place, begins, at));
}

/** Whether a subject with a verb of its own stands between a denial and the word: "I did not wait and it was deleted". */
function crosses(words: Words, place: number, begins: number, at: number): boolean {
  return words.slice(0, begins).some((subject, behind) => {
    if (behind <= place || !SUBJECTS.has(subject)) return false;
    const between = words.slice(place, behind);
    if (holdsAny(between, RAISING) || (DENIALS.has(wordAt(between, 0)) && !holdsAny(between, FINITE))) return false;
    const adverbs = words.slice(behind + 1, at).findIndex((word) => !ADVERBS.has(word));
    const verb = adverbs < 0 ? at : behind + 1 + adverbs;
    return FINITE.has(wordAt(words, verb)) || (verb === at && OWN.has(subject));
  });
}

/** Whether it is taken to have come about: "it should be gone now". */
function isExpected(words: Words): boolean {
  return words.includes("should") && words.includes("now");
}

/** Whether helpers make it a possibility, a plan or a wish. "It should be gone now" is none. */
function isPossible(words: Words, chain: Words): boolean {
  if (chain.includes("should") && isExpected(words)) return false;
  const to = chain.indexOf("to");
  return holdsAny(chain, CHAINED) || (to >= 0 && hasOwnVerb(chain.slice(to)));
}

function isConditional(
  clauses: readonly ClaimClause[],
  number: number,
  words: Words,
  at: number,
  chain: Words,
): boolean {
  const before = words.slice(0, at);
  const isPastTense = holdsAny(chain, PAST);
  if (holdsAny(before, CONDITIONS)) return true;
  if (holdsAny(before, TIMES)) {
    const isSimple = isPastTense || (holdsAny(before, OWN) && !hasOwnVerb(chain));
    return !isSimple || (holdsAny(chain, HAVE) && !chain.includes("had"));
  }
  if (isPastTense || !hasOwnVerb(chain)) return false;
  const after = words.slice(at + 1);
  return (
    after.some((word) => CONDITIONS.has(word) || TIMES.has(word)) ||
    clauses.some((clause, other) => other !== number && setsCondition(clause))
  );
}

/** Whether a clause says when or whether another one holds, and not what has come to pass. */
function setsCondition({ words }: ClaimClause): boolean {
  const first = words.find((word) => !OPENERS.has(word) || TIMES.has(word)) ?? "";
  return (CONDITIONS.has(first) || TIMES.has(first)) && !holdsAny(words, PAST);
}

/** Whether it is only wished for, without a verb of its own: "do you want it deleted". */
function isWished(words: Words, begins: number, chain: Words): boolean {
  if (hasOwnVerb(chain) || isOwnDoing(words, begins, chain) || isExpected(words)) return false;
  return holdsAny(words.slice(0, begins), MODALS);
}

/** Whether somebody else did it: "Ana deleted the list", "it was deleted by her". */
function isOthers(clauses: readonly ClaimClause[], number: number, words: Words, at: number, begins: number): boolean {
  const isName = (word: string) => clauses.some(({ names }, each) => each === number && names.has(word));
  const after = words.slice(at + 1);
  const isOther = (word: string) => OTHERS.has(word) || isName(word);
  if (
    after.some((word, place) => place > 0 && after[place - 1] === "by" && (isOther(word) || /^h(?:im|er)$/.test(word)))
  )
    return true;
  const subject = words[begins - 1];
  if (subject === undefined || holdsAny(words.slice(begins, at), BE)) return false;
  if (isOther(subject)) return true;
  const isPlain = !(SUBJECTS.has(subject) || OPENERS.has(subject) || NEGATIONS.has(subject));
  return isPlain && OBJECTS.has(wordAt(after, 0));
}

/** Whether a clause has nothing but words for acts and goes on with a denial: "nothing was moved, copied or deleted". */
function continues(clauses: readonly ClaimClause[], number: number): boolean {
  for (let at = number; at > 0; at--) {
    if (!wordsAt(clauses, at).every((word) => formsOf(word).length > 0 || ADVERBS.has(word))) return false;
    const words = wordsAt(clauses, at - 1);
    const act = words.findIndex(isPastForm);
    if (act >= 0 && words.slice(0, act).some((word) => NEGATIONS.has(word) || CHAINED.has(word))) return true;
  }
  return false;
}

function isPastForm(word: string): boolean {
  return formsOf(word).some(({ form }) => form === "past");
}

/** Whether it only tells which thing is meant: "the deleted items". */
function isAttribute(words: Words, at: number, begins: number, opens: boolean): boolean {
  const next = words[at + 1];
  if (next === undefined || AFTERWARDS.has(next) || next === THING || /^[0-9]/.test(next)) return false;
  const before = words.slice(0, at).findLast((word) => !ADVERBS.has(word));
  if (DETERMINERS.has(before ?? "")) return true;
  return opens && !hasOwnVerb(words.slice(begins, at)) && holdsAny(words.slice(at + 2), FINITE);
}

/** Whether it is said of any such thing: "a file that is deleted", "files are deleted". */
function isGeneralAct(words: Words, at: number, begins: number, chain: Words): boolean {
  const subject = words.slice(0, begins).filter((word) => !OPENERS.has(word) || WHOLE.has(word));
  if (!INDEFINITE.has(wordAt(subject, 0)) || subject.includes(THING)) return false;
  if (subject.at(-1) === "that") return holdsAny(words.slice(at + 1), FINITE);
  return !holdsAny(chain, PAST) && (hasOwnVerb(chain) || subject.length > 1);
}

/** The same of a state. "A timer is running" is about one timer, though. */
function isGeneralState(words: Words, begins: number): boolean {
  const subject = words.slice(0, begins).filter((word) => !OPENERS.has(word) || WHOLE.has(word));
  const [first = ""] = subject;
  if (!INDEFINITE.has(first) || subject.includes(THING)) return false;
  return !ONE.has(first) || subject.some((word) => word === "that" || isPastForm(word));
}

function goesOn(words: Words, at: number, begins: number, chain: Words): boolean {
  if (holdsAny(chain, BE)) return !isGeneralAct(words, at, begins, chain);
  const before = words.slice(0, at).filter((word) => !OPENERS.has(word) || ASPECTS.has(word));
  if (ASPECTS.has(before.at(-1) ?? "") || before.slice(-2).join(" ") === "succeeded in") return true;
  const after = words.slice(at + 1);
  return before.length === 0 && !INDEFINITE.has(wordAt(after, 0)) && !holdsAny(after, FINITE);
}

/** Whether it came off, though an infinitive: "I managed to delete". */
function followsSuccess(words: Words, begins: number, chain: Words): boolean {
  const to = chain.indexOf("to");
  const before = words.slice(0, begins + to);
  return to >= 0 && IMPLICATIVES.has(before.at(-1) ?? "") && !holdsAny(before, CHAINED);
}
