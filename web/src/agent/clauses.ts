import { type Lead, leadAt, type Opening, type Order, openingAt, withoutTail } from "./leads.ts";
import { headOf } from "./objects.ts";
import { stem } from "./ranking.ts";
import { bareAt, endsSentence, isFigure, markAt, phraseAt, type Token } from "./tokens.ts";
import { vocabulary } from "./vocabulary.ts";
import type { WishVerbs } from "./wish-verbs.ts";
import { wishWords } from "./wish-words.ts";

/*
 * The clauses of a message: one for each wish, in the order of its words, each without the words that only lead in or out. A cut is
 * made only where a wish begins: at a verb that people ask with, after a mark or a word that joins.
 */

const ARTICLES: ReadonlySet<string> = new Set(["the", "my", "all"]);
const ASKING: ReadonlySet<string> = new Set(wishWords.asking);
const BEINGS: ReadonlySet<string> = new Set(wishWords.beings);
const COMPOSING: ReadonlySet<string> = new Set(wishWords.composingVerbs);
const DETERMINERS: ReadonlySet<string> = new Set(wishWords.determiners);
const PREPOSITIONS: ReadonlySet<string> = new Set(wishWords.prepositions);
const REACHING: ReadonlySet<string> = new Set(wishWords.reaching);
const SAYING: ReadonlySet<string> = new Set(["that", "saying"]);
const { beings, asking, pronouns, subjects, backwards, negations, timeWords, doneOpenings } = wishWords;
const NO_VERBS: ReadonlySet<string> = new Set([
  ...[wishWords.prepositions, wishWords.determiners, wishWords.particles, beings, asking, pronouns, subjects].flat(),
  ...[backwards, negations, timeWords, doneOpenings].flat(),
  ...[vocabulary.commonTerms, vocabulary.conditions, vocabulary.lightWords].flat(),
]);

/** Words of a sentence that tells something, and asks for nothing. */
const TELLS: ReadonlySet<string> = new Set([beings, subjects, asking, backwards, pronouns, negations].flat());
const MOST_BARE = 8;
const NOUN_WITHIN = 4;

/**
 * One wish, or what may be one. `isParted` says that more than "and" or a comma stands before it, `opens` that a sentence begins
 * with it.
 */
export interface Clause {
  readonly tokens: readonly Token[];
  readonly order: Order;
  readonly isParted: boolean;
  readonly opens: boolean;
}

/** The clauses of a message, in the order of its words. A verb before a colon is that of each line below it. */
export function clausesOf(tokens: readonly Token[], verbs: WishVerbs): Clause[] {
  const clauses: Clause[] = [];
  let verb: readonly Token[] = [];
  for (const sentence of sentencesOf(tokens, verbs)) {
    const lead = leadAt(sentence, 0);
    const body = sentence.slice(lead.end);
    const isIntroduction =
      sentence.at(-1)?.gap.startsWith(":") && !body.some(({ isName, isQuoted }) => isName || isQuoted);
    if (isIntroduction) verb = body.slice(0, headOf(body, verbs)).map((token) => ({ ...token, mark: "" }));
    else if (verb.length > 0 && body.length > 0 && !beginsWish(sentence, lead.end, verbs, true))
      clauses.push(...cut([...verb, ...body], verbs));
    else clauses.push(...cut(sentence, verbs));
  }
  return clauses;
}

/** Whether a wish begins with the word at a place: a verb with an object, a question, or what is told to be kept. */
export function beginsWish(tokens: readonly Token[], at: number, verbs: WishVerbs, isParted: boolean): boolean {
  const [token, following, third] = tokens.slice(at, at + 3);
  if (token === undefined || following === undefined || token.isQuoted || token.isName || token.mark !== "")
    return false;
  if (ASKING.has(token.bare) || phraseAt(tokens, at, wishWords.statements) > 0) return third !== undefined;
  if (!verbs.all.has(token.bare)) return isParted && orders(token, following);
  if (wishWords.commands.includes(token.bare) && !isParted && !following.isName) return false;
  if (wishWords.joiners.includes(following.bare)) return beginsWish(tokens, at + 2, verbs, isParted);
  if (BEINGS.has(following.bare) || following.bare === "of") return false;
  return !PREPOSITIONS.has(following.bare) || wishWords.prepositional.includes(token.bare) || isParted;
}

/**
 * Whether a clause has no verb, and is a figure or what a tool is for, with what belongs to it: "timer for 8 minutes", "kitchen
 * light off".
 */
export function isBareWish(tokens: readonly Token[], verbs: WishVerbs): boolean {
  if (isCounted(tokens)) return true;
  if (verbs.all.has(bareAt(tokens, 0))) return false;
  if (verbs.nouns.has(stem(bareAt(tokens, 0)))) return true;
  const isTold = tokens.length > 1 && tokens.length <= MOST_BARE && !tokens.some(({ bare }) => TELLS.has(bare));
  const noun = tokens.slice(0, NOUN_WITHIN).findIndex(({ bare }) => verbs.nouns.has(stem(bare)));
  return isTold && noun >= 0 && !tokens.slice(0, noun).some(({ bare }) => verbs.all.has(bare));
}

/** Whether a clause begins with a figure. */
export function isCounted(tokens: readonly Token[]): boolean {
  return tokens.slice(0, 1).some(isFigure);
}

/** Whether a clause only tells why something is wished: a sentence about somebody or something, which names nothing. */
export function isReason(tokens: readonly Token[], verbs: WishVerbs): boolean {
  const isTold = wishWords.reasonOpenings.includes(bareAt(tokens, 0)) && tokens.length > 1;
  return isTold && !tokens.some(({ isName, isQuoted }) => isName || isQuoted) && !isBareWish(tokens, verbs);
}

/** One sentence, taken apart from its first word to its last. */
function cut(sentence: readonly Token[], verbs: WishVerbs): Clause[] {
  const clauses: Clause[] = [];
  let lead: Lead = { ...leadAt(sentence, 0), isParted: true, turn: [] };
  let opening = begun(sentence, lead, verbs);
  let at = opening.end + (opening.head.length > 0 ? 0 : 1);
  while (at < sentence.length) {
    const said = [...opening.head, ...sentence.slice(opening.end, at)];
    const isOpened = opening.order !== "as-said";
    const next = cutAt(said, sentence, at, verbs, isOpened, isOpened && clauses.length === 0);
    if (next === null) {
      at++;
      continue;
    }
    clauses.push(...closed(said, lead, opening.order, clauses.length === 0));
    lead = next;
    opening = begun(sentence, lead, verbs);
    at = opening.end + (opening.head.length > 0 ? 0 : 1);
  }
  const rest = [...opening.head, ...sentence.slice(opening.end)];
  return [...clauses, ...closed(rest, lead, opening.order, clauses.length === 0)];
}

function begun(sentence: readonly Token[], { end }: Lead, verbs: WishVerbs): Opening {
  return openingAt(sentence, end, verbs) ?? { end, order: "as-said", head: [] };
}

/** A clause that ends here, if it has anything to say. */
function closed(said: readonly Token[], lead: Lead, order: Order, opens: boolean): Clause[] {
  const whole = withoutTail(said);
  const endsFirst = bareAt(whole, -1) === "first";
  const kept = endsFirst ? withoutTail(whole.slice(0, -1)) : whole;
  if (kept.length === 0 || (bareAt(kept, 0) === "do" && markAt(kept, -1) === ":")) return [];
  const isFirst = endsFirst || lead.isFirst;
  const tokens = isFirst ? kept : [...lead.turn, ...kept];
  return [{ tokens, order: isFirst && order === "as-said" ? "first" : order, isParted: lead.isParted, opens }];
}

/** The words that lead into the next clause, if one begins here. */
function cutAt(
  said: readonly Token[],
  sentence: readonly Token[],
  at: number,
  verbs: WishVerbs,
  isOpened: boolean,
  mayFollow: boolean,
): Lead | null {
  const lead = leadAt(sentence, at);
  const before = sentence[at - 1];
  const opening = openingAt(sentence, lead.end, verbs);
  if (opening !== null) {
    const isOpen = opening.order !== "as-said" || before?.mark === "," || lead.isJoined;
    return isOpen && !said.some(({ bare }) => ASKING.has(bare)) ? { ...lead, isParted: true } : null;
  }
  const isSo = bareAt(sentence.slice(at), 0) === "so" && isReason(said, verbs);
  if (isSo && beginsWish(sentence, lead.end, verbs, true)) return { ...lead, isParted: true };
  if (before?.mark === "," || before?.mark === ":" || lead.isJoined)
    return mayCut(said, sentence, lead, verbs, isOpened) ? lead : null;
  // "Before you delete a.txt show me b.txt": nothing parts the two but the name.
  const isEnded = before?.isName || before?.isQuoted || lead.end > at + 1;
  return mayFollow && isEnded && beginsWish(sentence, lead.end, verbs, false) ? { ...lead, isParted: true } : null;
}

/** A message at its stops. A full stop behind which nothing begins is that of an abbreviation. */
function sentencesOf(tokens: readonly Token[], verbs: WishVerbs): (readonly Token[])[] {
  const sentences: (readonly Token[])[] = [];
  let start = 0;
  for (const [at, { mark }] of tokens.entries()) {
    const ends = endsSentence(mark) && (mark !== "." || opensSentence(tokens.slice(at + 1), verbs));
    if (!ends && at < tokens.length - 1) continue;
    sentences.push(tokens.slice(start, at + 1));
    start = at + 1;
  }
  return sentences;
}

function opensSentence(tokens: readonly Token[], verbs: WishVerbs): boolean {
  const { end } = leadAt(tokens, 0);
  const isRemark = end >= tokens.length || phraseAt(tokens, 0, wishWords.remarks) > 0;
  return isRemark || beginsWish(tokens, end, verbs, true) || openingAt(tokens, end, verbs) !== null;
}

/** Whether a clause may end before these words and another one begin behind them. */
function mayCut(
  said: readonly Token[],
  sentence: readonly Token[],
  { end, isJoined, isParted }: Lead,
  verbs: WishVerbs,
  isOpened: boolean,
): boolean {
  const rest = sentence.slice(end);
  if (givesText(said) && !rest.some(({ isName, isQuoted }) => isName || isQuoted)) return false;
  const [first, follows] = [bareAt(said, 0), bareAt(rest, 0)];
  if (!beginsWish(sentence, end, verbs, isParted))
    return isBareWish(said, verbs) && isBareWish(rest, verbs) && !isCounted(rest);
  if (isParted || isOpened) return true;
  const isSource = wishWords.sources.includes(follows) && bareAt(rest, 1) !== "for";
  if (isSource && !isJoined && !hasName(said)) return false;
  const isPlaced = rest.slice(0, -1).some(({ bare }) => PREPOSITIONS.has(bare));
  if (ASKING.has(follows) && !hasName(rest) && !(ASKING.has(first) && isPlaced)) return false;
  return !holdsOn(said, rest, verbs);
}

/** Whether what stands behind a colon is the text that a file gets: "note in a.txt: call Mr Novak". */
function givesText(said: readonly Token[]): boolean {
  const ends = said.findIndex(({ mark }) => mark === ":");
  return ends >= 0 && vocabulary.keepingVerbs.includes(bareAt(said, 0)) && hasName(said.slice(0, ends + 1));
}

/** Whether what is said so far may go on over an "and": a text without quotes, or what somebody is told to do. */
function holdsOn(said: readonly Token[], rest: readonly Token[], verbs: WishVerbs): boolean {
  const follows = bareAt(rest, 0);
  // "Move a.txt to archive" tells nobody to archive anything.
  const isPlace = vocabulary.acts.move.verbs.includes(bareAt(said, 0));
  if (!isPlace && isFollowed(said, (one, two) => one.bare === "to" && verbs.all.has(two.bare))) return true;
  // A folder has a name and no text.
  if (!COMPOSING.has(bareAt(said, 0)) || said.some(({ bare }) => vocabulary.folderNouns.includes(bare))) return false;
  if (said.some(({ bare }) => SAYING.has(bare))) return !rest.some(({ isName, isQuoted }) => isName || isQuoted);
  const isPlaced = isFollowed(said, (one, two) => REACHING.has(one.bare) && DETERMINERS.has(two.bare));
  if (isPlaced || said.some((token) => token.isName || token.isQuoted || isFigure(token))) return false;
  const reaches = isFollowed(rest, (one, two) => REACHING.has(one.bare) && two.isName);
  return reaches || markAt(said, -1) === ":" || !(verbs.own.has(follows) || ASKING.has(follows));
}

/** Whether an unknown word is a verb by what stands behind it: "disarm the alarm". */
function orders({ text, bare }: Token, following: Token): boolean {
  return /^\p{L}+$/u.test(text) && !NO_VERBS.has(bare) && (following.isName || ARTICLES.has(following.bare));
}

/** Whether two words that stand together are such a pair. */
function isFollowed(tokens: readonly Token[], isPair: (one: Token, two: Token) => boolean): boolean {
  return tokens.some((two, at) => {
    const one = tokens[at - 1];
    return one !== undefined && isPair(one, two);
  });
}

function hasName(tokens: readonly Token[]): boolean {
  return tokens.some(({ isName }) => isName);
}
