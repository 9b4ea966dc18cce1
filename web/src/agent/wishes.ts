import limits from "../../../loop/limits.json" with { type: "json" };
import { ACTS } from "./acts.ts";
import { foldersAsked } from "./bare-folders.ts";
import { beginsWish, type Clause, clausesOf, isBareWish, isCounted, isReason } from "./clauses.ts";
import { withoutAsides } from "./leads.ts";
import { spread } from "./objects.ts";
import { withNouns } from "./ones.ts";
import { stem } from "./ranking.ts";
import { leans, withReferents } from "./referents.ts";
import { added, bareAt, endsSentence, moved, spoken, type Token, tokenise } from "./tokens.ts";
import { vocabulary } from "./vocabulary.ts";
import { type DescribedTool, type WishVerbs, wishVerbs } from "./wish-verbs.ts";
import { wishWords } from "./wish-words.ts";

/*
 * The wishes of a message that asks for several things, read off its words: no model is asked. What comes out are the person's own
 * words, in the order in which things are to be done; a verb that is said once is said with each of its objects, and "it" is named.
 * Whatever is in doubt gives no wishes, and then a model is asked.
 */

const MAX_MESSAGE = limits.actions * limits.actionCharacters;
const CONDITIONS: ReadonlySet<string> = new Set([...vocabulary.conditions, ...wishWords.negations]);
const ASKING: ReadonlySet<string> = new Set(wishWords.asking);
const READING: ReadonlySet<string> = new Set(wishWords.readingVerbs);
const TIMED: ReadonlySet<string> = new Set([...wishWords.subjects, ...wishWords.pronouns, "that", "this"]);
const TELLING: ReadonlySet<string> = new Set(wishWords.telling);
const ACT_OF: ReadonlyMap<string, string> = new Map(
  ACTS.flatMap(([act, { verbs }]) => verbs.map((verb) => [verb, act])),
);

type Tokens = readonly Token[];

/** The wishes of a message, each to be taken by itself: two or more, or none where the words leave a doubt. */
export function wishesIn(message: string, tools: readonly DescribedTool[]): string[] {
  if (message.length > MAX_MESSAGE) return [];
  const folders = foldersAsked(message);
  if (folders.length > 0) return folders;
  const verbs = wishVerbs(tools);
  const all = clausesOf(withoutAsides(tokenise(message)), verbs);
  const parted = isReasonFirst(all, verbs) ? all.slice(1) : all;
  const clauses = parted.map((clause) => ({ ...clause, tokens: withNouns(clause.tokens, verbs) }));
  if (clauses.some(({ tokens }, at) => isDoubtful(tokens, verbs, at === clauses.length - 1))) return [];
  const named = withReferents(whole(clauses, verbs) ?? [], verbs) ?? [];
  const wishes = [...new Set(inOrder(named).flatMap(({ tokens }) => spread(tokens, verbs).map(spoken)))];
  const isSound = wishes.every((wish) => wish.includes(" ") && wish.length <= limits.actionCharacters);
  return isSound && wishes.length > 1 && wishes.length <= limits.actions ? wishes : [];
}

/** Whether a message begins by telling why something is wished: "we are out of salt, so add salt to list.txt". */
function isReasonFirst([first, ...others]: readonly Clause[], verbs: WishVerbs): boolean {
  if (first === undefined || others.length === 0) return false;
  return isReason(first.tokens, verbs) && !beginsWish(first.tokens, 0, verbs, false);
}

/** Whether a clause is no plain wish: it has a condition, a "not", or nothing that asks for anything. */
function isDoubtful(tokens: Tokens, verbs: WishVerbs, isLast: boolean): boolean {
  if (tokens.some((token, at) => CONDITIONS.has(token.bare) && mayLimit(token, tokens[at - 1], isLast))) return true;
  if (tokens.slice(0, -1).some(({ mark }) => endsSentence(mark))) return true;
  if (bareAt(tokens, 0) === "when" && TIMED.has(bareAt(tokens, 1))) return true;
  const isVerb = tokens.length === 1 && verbs.all.has(bareAt(tokens, 0));
  return !isVerb && !beginsWish(tokens, 0, verbs, true) && !isBareWish(tokens, verbs);
}

/** Whether a word may be a condition or a "not". "Check if it answers" only asks where nothing follows that may hang on it. */
function mayLimit({ bare, isQuoted, isName }: Token, before: Token | undefined, isLast: boolean): boolean {
  const isAsked = isLast && bare === "if" && before !== undefined && wishWords.wondering.includes(before.bare);
  return !isQuoted && !isName && !isAsked;
}

/**
 * The clauses that are wishes by themselves: a verb without its object goes with the next one, and what is asked of a file goes
 * with the file. Null where that is not clear.
 */
function whole(clauses: readonly Clause[], verbs: WishVerbs): Clause[] | null {
  const made: Clause[] = [];
  for (const clause of clauses) {
    const last = made.pop();
    if (last === undefined) made.push(clause);
    else if (isOverList(last.tokens, clause.tokens))
      made.push({ ...last, tokens: [...clause.tokens.slice(0, 1), ...last.tokens] });
    else if (last.tokens.length === 1) made.push(...shared(last, clause));
    else if (wishWords.sources.includes(bareAt(clause.tokens, 0)) && ASKING.has(bareAt(last.tokens, 0))) return null;
    else if (!asksOf(last.tokens, clause.tokens, verbs)) made.push(last, clause);
    else if (leans(clause.tokens)) made.push(joined(last, clause));
    else return null;
  }
  return made;
}

/** Whether a clause only says what is to be done with those before it: "9 at Costa and 5 at Boots, save them". */
function isOverList(tokens: Tokens, following: Tokens): boolean {
  return isCounted(tokens) && following.length === 2 && wishWords.pronouns.includes(bareAt(following, 1));
}

/** Two verbs with one object: one wish where one of them only looks, else one for each verb. */
function shared(clause: Clause, following: Clause): Clause[] {
  const [first, second] = [bareAt(clause.tokens, 0), bareAt(following.tokens, 0)];
  const [act, next] = [ACT_OF.get(first), ACT_OF.get(second)];
  const isLook = READING.has(first) && (act === undefined || next === undefined || next === "read");
  if (TELLING.has(second) || isLook) return [joined(clause, following)];
  return [{ ...clause, tokens: [...clause.tokens.map(moved), ...following.tokens.slice(1)] }, following];
}

function joined(clause: Clause, following: Clause): Clause {
  return { ...clause, tokens: [...clause.tokens, added("and"), ...following.tokens] };
}

/** Whether a clause asks something of what the one before it finds or reads, and of nothing that another tool is for. */
function asksOf(tokens: Tokens, following: Tokens, verbs: WishVerbs): boolean {
  if (!leans(following) && following.slice(1).some(({ bare }) => verbs.subjects.has(stem(bare)))) return false;
  const [verb, asks] = [bareAt(tokens, 0), bareAt(following, 0)];
  return (TELLING.has(asks) || ASKING.has(asks)) && READING.has(verb) && !following.some(({ isName }) => isName);
}

/** The clauses in the order in which they are to be done. */
function inOrder(clauses: readonly Clause[]): Clause[] {
  const made: Clause[] = [];
  let waiting: Clause[] = [];
  for (const [number, clause] of clauses.entries()) {
    const { order, opens } = clause;
    if (order === "before" && opens) waiting.push(clause);
    else if (made.length > 0 && (order === "first" || (order === "after" && !opens))) made.splice(-1, 0, clause);
    else {
      made.push(clause);
      const following = clauses[number + 1];
      if (following !== undefined && !following.isParted && !following.opens) continue;
      made.push(...waiting);
      waiting = [];
    }
  }
  return [...made, ...waiting];
}
