import { stem } from "./ranking.ts";
import { bareAt, isFigure, markAt, phraseAt, type Token } from "./tokens.ts";
import { vocabulary } from "./vocabulary.ts";
import type { WishVerbs } from "./wish-verbs.ts";
import { wishWords } from "./wish-words.ts";

/*
 * One verb that is said once for several objects, as one wish for each: "list photos/ and videos/", "X to a and Y to b". Whatever
 * may be one object with an "and" in it stays one: a text to be written, what is looked for, a name.
 */

const ASKING: ReadonlySet<string> = new Set(wishWords.asking);
const COLLECTIVE: ReadonlySet<string> = new Set(wishWords.collective);
const DETERMINERS: ReadonlySet<string> = new Set(wishWords.determiners);
const PARTICLES: ReadonlySet<string> = new Set(wishWords.particles);
const PREPOSITIONS: ReadonlySet<string> = new Set(wishWords.prepositions);
const AFTER_VERB: ReadonlySet<string> = new Set([...wishWords.sharing, ...wishWords.particles]);
const TEXT_VERBS: ReadonlySet<string> = new Set(wishWords.textVerbs);
const SENDING: ReadonlySet<string> = new Set(vocabulary.acts.send.verbs);
const WRITING: ReadonlySet<string> = new Set([...vocabulary.acts.write.verbs, ...SENDING]);
/** Verbs whose things belong together: one mail to two people. */
const JOINT: ReadonlySet<string> = new Set([...wishWords.textVerbs.filter((verb) => !WRITING.has(verb)), ...SENDING]);
const TARGET: ReadonlySet<string> = new Set(["to", "into"]);
const DAYS: ReadonlySet<string> = new Set(Object.keys(vocabulary.nearDays));
const SAME: ReadonlySet<string> = new Set(["this", "last", "next"]);
const NUMBERED = /^[A-Za-z][A-Za-z_.-]*[0-9]+$/;
/** Words of an object that is plain. A longer one is a clause. */
const MOST_WORDS = 4;

type Tokens = readonly Token[];

/** What stands between two joins. `isJoined` says that a word stands before it and no mere comma, `isParted` that it is more than "and". */
interface Part {
  readonly tokens: Tokens;
  readonly isJoined: boolean;
  readonly isParted: boolean;
}

/** The wishes of a clause: as many as its verb has objects. */
export function spread(tokens: Tokens, verbs: WishVerbs): Tokens[] {
  const parts = partsIn(tokens);
  if (parts.length === 1 || tokens.some((_, at) => isCollective(tokens, at))) return [tokens];
  const head = headOf(tokens, verbs) || phraseAt(tokens, 0, wishWords.statements);
  const isMove = vocabulary.acts.move.verbs.includes(bareAt(tokens, 0));
  if (isMove && parts[0]?.tokens.slice(0, -1).some(({ isName }) => isName)) {
    const moves = ofMoves(parts);
    return moves.length > 0 ? moves : [tokens];
  }
  const framed = [ofFrames(parts, head || nounOf(tokens, verbs)), ofPlaces(parts, verbs)];
  const found = [...framed, ofNames(parts, head), ofLikes(parts, head)];
  return found.find((wishes) => wishes.length > 0) ?? [tokens];
}

/** One wish for each place that what a tool tells is asked for: "the weather in Rome and Paris". */
function ofPlaces(parts: readonly Part[], verbs: WishVerbs): Tokens[] {
  const [first = [], ...others] = parts.map(({ tokens }) => tokens);
  const names = [first, ...others].flatMap((each) => each.slice(-1));
  const isSaid = first.slice(0, -2).some(({ bare }) => verbs.nouns.has(stem(bare)));
  const isPlace = bareAt(first, -2) === "in" && names.every(({ text, isName }) => /^\p{Lu}/u.test(text) && !isName);
  const isList = others.every((other) => other.length === 1 || (other.length === 2 && bareAt(other, 0) === "in"));
  return isSaid && isPlace && isList ? names.map((name) => [...first.slice(0, -1), name]) : [];
}

/** Whether a word puts things together, and is no place that they go to: "move a.txt and b.txt to archive". */
function isCollective(tokens: Tokens, at: number): boolean {
  const isPlace = at > 0 && TARGET.has(bareAt(tokens, at - 1));
  return COLLECTIVE.has(bareAt(tokens, at)) && !tokens[at]?.isQuoted && !isPlace;
}

/** How many words of a clause are its verb, with for whom it is and its particle: "show me", "remind me to call". */
export function headOf(tokens: Tokens, verbs: WishVerbs): number {
  if (!verbs.all.has(bareAt(tokens, 0))) return 0;
  let end = 1;
  while (AFTER_VERB.has(bareAt(tokens, end))) end++;
  const [next, after] = [bareAt(tokens, end), bareAt(tokens, end + 1)];
  return (next === "to" && verbs.all.has(after)) || (next === "rid" && after === "of") ? end + 2 : end;
}

/** How many words of a clause without a verb say what is wanted, before where or for whom: "weather in Rome and in Paris". */
function nounOf(tokens: Tokens, verbs: WishVerbs): number {
  return verbs.nouns.has(stem(bareAt(tokens, 0)))
    ? Math.max(
        0,
        tokens.findIndex(({ bare }) => PREPOSITIONS.has(bare)),
      )
    : 0;
}

/** A clause at its joins. An "and" after "between" is none. */
function partsIn(tokens: Tokens): Part[] {
  const parts: Part[] = [];
  let own: Token[] = [];
  let [isJoined, isParted, at] = [false, false, 0];
  for (let token = tokens[at]; token !== undefined; token = tokens[at]) {
    const isRange = own.some(({ bare }) => bare === "between");
    const sequel = own.length + parts.length > 0 ? phraseAt(tokens, at, wishWords.sequels) : 0;
    const isJoin = !token.isQuoted && (sequel > 0 || (wishWords.joiners.includes(token.bare) && !isRange));
    if (isJoin || markAt(own, -1) === ",") {
      if (own.length > 0) {
        parts.push({ tokens: own, isJoined, isParted });
        [own, isJoined, isParted] = [[], false, false];
      }
      isJoined ||= isJoin;
      isParted ||= sequel > 0;
    }
    const isFiller = own.length === 0 && parts.length > 0 && wishWords.fillers.includes(token.bare);
    if (!isJoin && !isFiller && (token.bare !== "both" || token.isQuoted)) own.push(token);
    at += isJoin ? sequel || 1 : 1;
  }
  return [...parts, { tokens: own, isJoined, isParted }].filter((part) => part.tokens.length > 0);
}

/** One wish for each name of a list: "open a.txt and b.txt", "move a.txt and b.txt into c/". */
function ofNames(parts: readonly Part[], head: number): Tokens[] {
  const bodies = parts.map(({ tokens }) => tokens);
  const [first, tail] = [bodies.slice(0, 1).flat(), bodies.slice(-1).flatMap((body) => body.slice(1))];
  const [lead, names] = [
    first.slice(0, -1),
    [...first.slice(-1), ...bodies.slice(1).flatMap((body) => body.slice(0, 1))],
  ];
  const verb = bareAt(first, 0);
  const before = bareAt(lead, -1);
  const isList = names.every(isLabel) && bodies.slice(1, -1).every(({ length }) => length === 1);
  const isQuestion = ASKING.has(verb);
  if (!isList || lead.length === 0 || (head === 0 && !isQuestion) || (isQuestion && before === "of")) return [];
  const isTarget = PREPOSITIONS.has(before);
  const isTailOfAll = isQuestion || PREPOSITIONS.has(bareAt(tail, 0));
  const isPut = vocabulary.puttingVerbs.includes(verb) && names.every(({ isName }) => isName) && isFolder(tail);
  const isOther = tail.length > 0 && (WRITING.has(verb) || !isTailOfAll);
  if (isOther || (!isTarget && ((JOINT.has(verb) && !isPut) || lead.some(({ isName }) => isName)))) return [];
  return names.map((name) => [...lead, name, ...tail]);
}

/**
 * One wish for each file of "move a.txt to old/ and b.txt": no file goes to two places, so that the second name is that of another
 * file. None where it cannot be that.
 */
function ofMoves(parts: readonly Part[]): Tokens[] {
  const [first = [], ...others] = parts.map(({ tokens }) => tokens);
  const verb = first.slice(0, 1);
  if (others.every((other) => other.some(({ bare }) => vocabulary.movingLinks.includes(bare))))
    return [first, ...others.map((other) => [...verb, ...other])];
  const isFile = ([name, ...more]: Tokens) => name?.isName && more.length === 0 && !name.text.endsWith("/");
  const isInto = vocabulary.movingLinks.includes(bareAt(first, -2)) && first.at(-1)?.text.endsWith("/");
  return isInto && others.every(isFile)
    ? [first, ...others.map((other) => [...verb, ...other, ...first.slice(-2)])]
    : [];
}

/** Whether what follows a list of files is the folder that they go to: "into old/", "in the folder old". */
function isFolder(tail: Tokens): boolean {
  const isTold = tail.at(-1)?.text.endsWith("/") || tail.some(({ bare }) => vocabulary.folderNouns.includes(bare));
  return isTold && vocabulary.movingLinks.includes(bareAt(tail, 0));
}

/** One wish for each pair of things: "X to a and Y to b", "18 at Lidl and 6.50 at Pret". */
function ofFrames(parts: readonly Part[], head: number): Tokens[] {
  const verb = parts.slice(0, 1).flatMap(({ tokens }) => tokens.slice(0, head));
  const bodies = parts.map(({ tokens }, number) => (number === 0 ? tokens.slice(head) : tokens));
  // "The lamp in the hall on and the one in the bath off": what is done stands at the end.
  const isSwitched = bodies.every((body) => PARTICLES.has(bareAt(body, -1)));
  const framed = isSwitched ? bodies.map((body) => body.slice(0, -1)) : bodies;
  const joints = framed.map((body) => jointsOf(body).join(" "));
  const isFramed = joints[0] !== "" && new Set(joints).size === 1 && framed.every(({ length }) => length > 1);
  if (!isFramed || (head === 0 && !bodies.flat().slice(0, 1).some(isFigure))) return [];
  const begins = framed.map((body) => (PREPOSITIONS.has(bareAt(body, 0)) ? bareAt(body, 0) : ""));
  if (new Set(begins).size > 1 || framed.some((body) => PREPOSITIONS.has(bareAt(body, -1)))) return [];
  return bodies.map((body) => [...verb, ...body]);
}

/** One wish for each of several plain objects: "turn on the lamp and the heater", "show me the week, then the month". */
function ofLikes(parts: readonly Part[], head: number): Tokens[] {
  const [first = [], ...others] = parts.map(({ tokens }) => tokens);
  const same = first.findIndex(({ bare }, at) => at > 0 && SAME.has(bare));
  if (same > 0 && others.every((each) => SAME.has(bareAt(each, 0)) && each.length <= first.length - same))
    return [first, ...others.map((each) => [...first.slice(0, same), ...each])];
  const isParted = parts.slice(1).every((part) => part.isParted);
  const isText = TEXT_VERBS.has(bareAt(first, 0)) && !isParted;
  if (head === 0 || head === first.length || isText || !parts.at(-1)?.isJoined) return [];
  const last = others.slice(-1).flat();
  const place = placeIn(last, first, head);
  const bodies = [first.slice(head), ...others.slice(0, -1), last.slice(0, place)];
  if (bodies.slice(1).some(({ length }) => length > MOST_WORDS) || bodies.flat().some(({ isQuoted }) => isQuoted))
    return [];
  if (!isParted && isTitle(bodies)) return [];
  const determiner = first.slice(head, head + 1).filter(({ bare }) => DETERMINERS.has(bare));
  const full = bodies.map((body) => (body.length === 1 && !isFull(body) ? [...determiner, ...body] : body));
  const isAlike = full.every(isFull) || bodies.every((body) => body.length === 1 && !body[0]?.isName);
  return isAlike || isParted ? full.map((body) => [...first.slice(0, head), ...body, ...last.slice(place)]) : [];
}

/** Where the words of the last object begin that are said of all: "the lamp and the fan in the kitchen", "… off". */
function placeIn(last: Tokens, first: Tokens, head: number): number {
  const endsIn = (tokens: Tokens) => PARTICLES.has(bareAt(tokens, -1));
  if (endsIn(last) && !endsIn(first) && head === 1) return last.length - 1;
  const hasPlace = first.slice(head).some(({ bare }) => PREPOSITIONS.has(bare));
  const place = last.findIndex(({ bare }, at) => at > 0 && at < last.length - 1 && PREPOSITIONS.has(bare));
  return hasPlace || place < 0 ? last.length : place;
}

/** What holds an object together: its prepositions, and quotes. */
function jointsOf(body: Tokens): string[] {
  return body.flatMap(({ bare, isQuoted }) => (isQuoted ? ["'"] : PREPOSITIONS.has(bare) ? [bare] : []));
}

/** Whether a word names one thing, such as a file or `web-1`. */
function isLabel({ text, isName, isQuoted }: Token): boolean {
  return isName || (!isQuoted && NUMBERED.test(text));
}

function isFull([first, ...more]: Tokens): boolean {
  const isDay = more.length === 0 && first !== undefined && DAYS.has(first.bare);
  return isDay || (first !== undefined && (first.isName || DETERMINERS.has(first.bare)));
}

/** Whether two words may be one name: "Marks and Spencer". */
function isTitle(bodies: readonly Tokens[]): boolean {
  return (
    bodies.length === 2 &&
    bodies.every(([first]) => first !== undefined && !first.isName && /^\p{Lu}/u.test(first.text))
  );
}
