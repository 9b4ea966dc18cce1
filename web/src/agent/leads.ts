import { added, bareAt, endsSentence, markAt, moved, phraseAt, phraseBefore, type Token } from "./tokens.ts";
import { gerundOf, type WishVerbs } from "./wish-verbs.ts";
import { wishWords } from "./wish-words.ts";

/* The words around a wish that ask for nothing: what leads into it, what ends it, and what tells when it is to be done. */

const ADVERBS: ReadonlySet<string> = new Set(wishWords.adverbs);
const AROUND: ReadonlySet<string> = new Set([...wishWords.subjects, ...wishWords.adverbs]);
const FIRST: ReadonlySet<string> = new Set(["first", "firstly"]);
const MOST_DONE_WORDS = 5;

/**
 * When a clause is to be done, by its words. One that begins with "before" is done after the clause beside it, one that begins
 * with "after" before it; what is to be done first is done before what stands before it.
 */
export type Order = "as-said" | "before" | "after" | "first";

/**
 * The words before a wish. `end` is where they end; `isJoined` says that one of them joins it to what is before, `isParted` that
 * one is more than "and"; `turn` is the "but" among them.
 */
export interface Lead {
  readonly end: number;
  readonly isJoined: boolean;
  readonly isParted: boolean;
  readonly isFirst: boolean;
  readonly turn: readonly Token[];
}

/**
 * The beginning of a clause that says before or after what something is done: its verb as a wish has it, and where the rest of the
 * clause begins.
 */
export interface Opening {
  readonly end: number;
  readonly order: Order;
  readonly head: readonly Token[];
}

/** A message without the polite words that may stand anywhere in it. */
export function withoutAsides(tokens: readonly Token[]): Token[] {
  const kept: Token[] = [];
  let at = 0;
  while (at < tokens.length) {
    const length = phraseAt(tokens, at, wishWords.asides);
    const mark = tokens[at + length - 1]?.mark;
    if (length === 0) kept.push(...tokens.slice(at, at + 1));
    else {
      const before = kept.splice(-1, 1);
      kept.push(...before.map((each) => (endsSentence(each.mark) ? each : { ...each, mark: mark || each.mark })));
    }
    at += length || 1;
  }
  return kept;
}

/** A clause without the thanks and the haste at its end. Thanks are a part of it where nothing parts them from it. */
export function withoutTail(tokens: readonly Token[]): readonly Token[] {
  const remark = phraseBefore(tokens, tokens.length, wishWords.remarks);
  const tail = phraseBefore(tokens, tokens.length, wishWords.tails);
  const before = tokens[tokens.length - remark - 1];
  const isThanks = remark > 0 && (before === undefined || before.mark !== "" || before.isName || before.isQuoted);
  const length = isThanks ? remark : tail;
  return length === 0 ? tokens : withoutTail(tokens.slice(0, -length));
}

/** The words at a place that lead into a wish. */
export function leadAt(tokens: readonly Token[], start: number): Lead {
  let [isJoined, isParted, isFirst] = [false, false, false];
  let turn: readonly Token[] = [];
  let at = start;
  for (let token = tokens[at]; token !== undefined && !token.isQuoted; token = tokens[at]) {
    const sequel = doneAt(tokens, at) || phraseAt(tokens, at, wishWords.sequels);
    const remark = phraseAt(tokens, at, wishWords.remarks);
    const isJoiner = wishWords.joiners.includes(token.bare);
    let length = phraseAt(tokens, at, wishWords.openers, ADVERBS);
    if (sequel > 0) {
      [isJoined, isParted, length] = [true, true, sequel];
    } else if (isJoiner || token.bare === "but") {
      [isJoined, length] = [true, 1];
      turn = isJoiner ? turn : [token];
    } else if (length === 0 && wishWords.fillers.includes(token.bare)) {
      isFirst ||= at > start && FIRST.has(token.bare);
      length = 1;
    } else if (remark > 0 && markAt(tokens, at + remark - 1) !== "") {
      length = remark;
    }
    if (length === 0) break;
    at += length;
  }
  return { end: at, isJoined, isParted, isFirst: isFirst && isJoined, turn };
}

/**
 * The beginning of such a clause at a place: "before you delete", "after deleting", "once a.txt is deleted"; or of one that says of
 * a thing what may be done with it: "a.txt can be deleted". Null for any other.
 */
export function openingAt(tokens: readonly Token[], at: number, verbs: WishVerbs): Opening | null {
  const thing = tokens[at];
  if (thing?.isName) return passiveAt(tokens, at, thing, verbs);
  const length = phraseAt(tokens, at, wishWords.timeWords);
  if (length === 0 || doneAt(tokens, at) > 0) return null;
  let place = at + length;
  while (AROUND.has(bareAt(tokens, place))) place++;
  const [token, following] = tokens.slice(place);
  if (token === undefined || following === undefined || token.isQuoted) return null;
  const order: Order = bareAt(tokens, at) === "before" ? "before" : "after";
  if (token.isName) {
    const base = wishWords.beings.includes(following.bare) ? verbs.forms.get(bareAt(tokens, place + 2)) : undefined;
    return base === undefined ? null : { end: place + 3, order, head: [added(base), moved(token)] };
  }
  const told = verbs.all.has(token.bare) ? token.bare : (verbs.forms.get(token.bare) ?? null);
  const base = gerundOf(token.bare, verbs) ?? (place > at + length ? told : null);
  return base === null ? null : { end: place + 1, order, head: [added(base)] };
}

function passiveAt(tokens: readonly Token[], at: number, thing: Token, verbs: WishVerbs): Opening | null {
  if (thing.mark !== "" || !wishWords.mayBe.includes(bareAt(tokens.slice(at), 1))) return null;
  const verb = bareAt(tokens.slice(at), 2);
  if (verb === "go") return { end: at + 3, order: "as-said", head: [added("delete"), moved(thing)] };
  const base = verb === "be" ? verbs.forms.get(bareAt(tokens.slice(at), 3)) : undefined;
  return base === undefined ? null : { end: at + 4, order: "as-said", head: [added(base), moved(thing)] };
}

/** How many words say that what was before is done: "once that's done", "when you are finished with it". */
function doneAt(tokens: readonly Token[], at: number): number {
  const length = phraseAt(tokens, at, wishWords.doneOpenings);
  if (length === 0) return 0;
  for (let end = at + length; end < at + length + MOST_DONE_WORDS && markAt(tokens, end - 1) === ""; end++) {
    const token = tokens[end];
    if (token !== undefined && wishWords.doneEnds.includes(token.bare))
      return end + 1 - at + (token.mark === "" ? phraseAt(tokens, end + 1, wishWords.doneThings) : 0);
    if (token === undefined || !wishWords.doneWords.includes(token.bare)) return 0;
  }
  return 0;
}
