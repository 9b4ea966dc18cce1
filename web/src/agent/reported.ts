import { chainBefore } from "./assertions.ts";
import { type ClaimClause, THING } from "./claim-clauses.ts";
import { anyPhrase, claimWords, type Form } from "./claim-words.ts";
import { wordsOf } from "./words.ts";

/*
 * Whether a clause reports, without saying who did it, that something which a tool can change was changed: "the file has been
 * deleted", "Moved!", "the list now has milk". What somebody tells of the world is no such report: its subject is none of the
 * things that tools are for, or it says when it was.
 */

type Words = readonly string[];
type WordSet = ReadonlySet<string>;

/** What a change brings about, in any turn. */
export const REPORTED_STATES = anyPhrase(claimWords.reportedStates);

const NOUNS: WordSet = new Set(claimWords.reportedNouns);
const LINKS: WordSet = new Set([...claimWords.reportedLinks, THING]);
const INTO: WordSet = new Set(claimWords.reportedPlaces);
const DETERMINERS: WordSet = new Set(claimWords.determiners);
const LEADS: WordSet = new Set([...claimWords.determiners, ...claimWords.reportedCounts]);
const PRONOUNS: WordSet = new Set(claimWords.reportedPronouns);
const DOERS: WordSet = new Set(claimWords.reportedDoers);
const HISTORIC: WordSet = new Set(claimWords.historic);
const COMPOSING: WordSet = new Set(claimWords.composing);
const OPENERS: WordSet = new Set(claimWords.openers);
const ADVERBS: WordSet = new Set(claimWords.adverbs);
const BE: WordSet = new Set(claimWords.be);
const HAVE: WordSet = new Set(claimWords.have);
const PAST: WordSet = new Set(claimWords.past);
const YEAR = /^(?:1[0-9]{3}|20[0-9]{2})$/;

/**
 * Whether the word for an act at this place of a clause reports that it was done. `isFound`: a result names its thing, which may
 * well tell what became of it. `isOffered`: the word is one of a tool on offer, whose things no list needs to know.
 */
export function reportsAct(
  clause: ClaimClause,
  at: number,
  form: Form,
  isFound: boolean,
  isOffered: boolean = false,
): boolean {
  const { words } = clause;
  const begins = chainBefore(words, at);
  const chain = words.slice(begins, at);
  const isComposing = words.slice(at, at + 1).some((word) => COMPOSING.has(word));
  const after = words.slice(at + 1);
  const isPerfect = chain.includes("been");
  if ((form !== "past" && form !== "same") || (isHistory(words) && !isPerfect)) return false;
  const subject = subjectOf(words.slice(0, begins));
  const [first] = subject;
  if (first === undefined) {
    const isBare = after.every((word) => OPENERS.has(word) || ADVERBS.has(word));
    return form === "past" && isBare && chain.length === 0 && !isComposing;
  }
  const isPassive = chain.some((word) => BE.has(word));
  if (subject.length <= 2 && subject.slice(-1).some((word) => DOERS.has(word)))
    return !isPassive && (form === "past" || chain.some((word) => HAVE.has(word)));
  const isPresent = !chain.some((word) => PAST.has(word));
  if (!isPassive || (isPresent && !words.includes("now") && !after.every((word) => ADVERBS.has(word)))) return false;
  if (subject.length === 1 && PRONOUNS.has(first)) return !isComposing;
  if (first === THING && isFound && !isPerfect && !isPresent) return false;
  const isKnown = isSubject(subject, clause) || (isOffered && LEADS.has(first));
  return isKnown || (isPerfect && isPlaced(after));
}

/** Whether what stands at this place of a clause reports a change of something of which the message does not speak. */
export function reportsState(clause: ClaimClause, at: number, message: string): boolean {
  const subject = subjectOf(clause.words.slice(0, chainBefore(clause.words, at)));
  const spoken = new Set(wordsOf(message).map(({ bare }) => bare));
  const isSpoken = subject.some((word) => NOUNS.has(word) && spoken.has(word));
  const isAsked = isSpoken || [...clause.things].some((thing) => message.includes(thing));
  return !isAsked && !isHistory(clause.words) && isSubject(subject, clause);
}

/** Whether it names a thing that tools are for: "both notes", "the line about bread", `a.txt`. */
function isSubject(subject: Words, { names }: ClaimClause): boolean {
  const [first] = subject;
  if (first === THING) return subject.length === 1;
  if (first === undefined || !(LEADS.has(first) || NOUNS.has(first))) return false;
  const at = subject.findIndex((word) => NOUNS.has(word));
  return at >= 0 && subject.slice(at + 1, at + 2).every((word) => LINKS.has(word) || names.has(word));
}

/** Whether it ends in such a thing: "has been added to the shopping list". */
function isPlaced(rest: Words): boolean {
  const at = rest.findIndex((word) => INTO.has(word));
  const after = at < 0 ? [] : rest.slice(at + 1);
  return after.slice(0, 1).some((word) => DETERMINERS.has(word)) && after.slice(-1).some((word) => NOUNS.has(word));
}

/** The words before a verb without those that only open a sentence. */
function subjectOf(words: Words): Words {
  const begins = words.findIndex((word, at) => !OPENERS.has(word) || at === words.length - 1);
  return words.slice(Math.max(begins, 0)).filter((word) => !ADVERBS.has(word));
}

/** Whether it says when, in words that nobody uses of what was done just now. */
export function isHistory(words: Words): boolean {
  return words.some((word) => HISTORIC.has(word) || YEAR.test(word));
}
