import { actionSchema } from "./action-schema.ts";
import { askedActs, isThing } from "./acts.ts";
import { doubtfulQuery, mayBeOwn, ownQueries, phrasesIn } from "./affairs.ts";
import type { ChatMessage } from "./chat.ts";
import { choose } from "./choosing.ts";
import { recordOf, withoutFalseClaims } from "./claims.ts";
import { NOTHING_SAID } from "./copied.ts";
import { copy, nameAbilities } from "./copy.ts";
import { fill } from "./fill.ts";
import { queryThatFound, searcherAmong } from "./further.ts";
import { asksHow, asksLive, asksWhat } from "./general.ts";
import { withoutReader } from "./kept.ts";
import type { LaneInput, ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { namedThing, recordQuery, tellsFigure } from "./named.ts";
import { slotOf } from "./names.ts";
import { inventsNumber } from "./passages.ts";
import { abilitiesOf, actionPrefix } from "./prompts.ts";
import { neutralise } from "./provenance.ts";
import { stem, termsIn } from "./ranking.ts";
import { offered } from "./respond.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishVerbs } from "./wish-verbs.ts";
import { wishWords } from "./wish-words.ts";
import { wordsOf } from "./words.ts";

/** Acts of which a model can tell nothing by itself: "show the groceries". A poem it can write. */
const ON_FILES: ReadonlySet<string> = new Set(["read", "delete", "move"]);

const WORLD: ReadonlySet<string> = new Set([...vocabulary.worldNouns, ...vocabulary.worldVerbs]);
const OWN_ASKED = new RegExp(
  `^(?:${anyOf(vocabulary.planQuestions)}|what)(?:['’]s| (?:${anyOf(vocabulary.classifyingWords)})) `,
  "i",
);

/** Orders that words alone do: "count to five". */
const WORDED: ReadonlySet<string> = new Set([
  ...wishWords.telling,
  ...vocabulary.explainingVerbs,
  ...vocabulary.comparingVerbs,
]);
const COMPOSED: ReadonlySet<string> = new Set(vocabulary.composedTexts);
const MANY: ReadonlySet<string> = new Set(
  Object.entries(vocabulary.numberWords).flatMap(([word, number]) => (number > 1 ? [word] : [])),
);
/** What stands in files, and no model knows: "list three invoices". */
const KEPT: ReadonlySet<string> = new Set([
  ...vocabulary.documentNouns,
  ...Object.entries(vocabulary.countedNouns).flatMap(([kind, nouns]) => (kind === "word" ? [] : nouns)),
]);
const LIGHT: ReadonlySet<string> = new Set([...vocabulary.lightWords, ...wishWords.possessives].map(stem));
/** Terms of "what's my name?", which is told by "I'm Ana" as well. */
const SELF: ReadonlySet<string> = new Set([stem("name"), "s"]);
const UNSURE = /\?|\b(?:or|not|never)\b|n['’]t\b/i;
/** First words of an order or a question, which tell nothing: "call Jonas", "which files mention Jonas". */
const ASKING: ReadonlySet<string> = new Set([
  ...wishWords.imperatives,
  ...vocabulary.modals,
  ...vocabulary.questionWords,
]);
/** Words of a question that goes on with the one before it: "since when?". */
const LEANING = 3;

/** Words by which a thing is looked for. */
const NAMED = 2;

/** Characters. What is longer says something beside the refusal. */
const LONGEST_REFUSAL = 100;

const LEADING = new Set([...vocabulary.fillers, ...wishWords.fillers]);
const SPOKEN = new Set([...vocabulary.spokenVerbs, ...vocabulary.explainingVerbs, ...wishWords.telling]);

/** What a small model says to a question that no file answers, told to be that. */
export async function fromMemory(input: LaneInput, wish: string, calls: readonly ToolMessage[]): Promise<string> {
  const query = queryThatFound(calls).replace(/^\*+|\*+$/g, "");
  // What only a record tells, a model makes up; and whatever it says to somebody who speaks no English.
  if (recordQuery(wish) !== "" || input.quotes === true) return fill(copy.notFound, () => query);
  const prompt: ChatMessage[] = [...actionPrefix([]), { role: "user", content: neutralise(wish) }];
  const chosen = await choose(input, prompt, actionSchema([], NOTHING_SAID), false);
  const text = chosen.kind === "answer" ? chosen.text.trim() : "";
  // Of somebody's own things it can have no number and no day.
  const said = namedThing(wish) !== "" && tellsFigure(text) ? "" : text;
  const looked = fill(said === "" ? copy.notFound : copy.notInFiles, () => query);
  return said === "" ? looked : `${looked}\n\n${said}`;
}

/**
 * What a small model says to a question that some file may answer and that it has looked in no file for, and that it has not, or to
 * one for what changes from day to day; in the place of a refusal what it can do; empty for any other question.
 */
export function outOfMemory(input: LaneInput, wish: string, said: string): string {
  if (isTold(input, wish, said)) return "";
  const kept = recordQuery(wish);
  if (kept === "" && asksLive(wish) && !said.trim().endsWith("?")) return copy.notLive;
  const canLook = (kept !== "" || said.trim() !== "") && searcherAmong(offered(input.tools)) !== null;
  const madeUp = madeUpOf(wish, said);
  const query = canLook ? kept || madeUp || doubtfulQuery(wish) : "";
  if (query === "") return declines(said) ? able(input) : "";
  const looked = fill(copy.notLooked, () => query);
  // What only a record tells, a model makes up.
  return kept === "" && madeUp === "" ? `${said}\n\n${looked}` : looked;
}

/**
 * The thing of somebody's own, told apart by "the", "my" or a name, of which an answer without a look has a number or a day that
 * nobody said; empty for any other answer.
 */
function madeUpOf(wish: string, said: string): string {
  const isFigure = wish.trim().endsWith("?") && tellsFigure(said) && inventsNumber(said, [wish]);
  // What "my" name is, or who "our" landlord is, no model knows; what "our" solar system is, or "Newton's" law, it does.
  const isOwn = OWN_ASKED.test(wish.trim()) && said.trim() !== "" && !said.trim().endsWith("?");
  const isOurs = wordsOf(wish).some(({ bare }) => bare === "our");
  const thing = phrasesIn(wish, wordsOf(wish)).find(({ words, ofWorld, owned, name }) => {
    const isWorldly = isOurs && words.some(({ bare }) => WORLD.has(bare));
    return words.length > 0 && !ofWorld && (isFigure || (isOwn && owned && name === "" && !isWorldly));
  });
  const named = thing?.words.slice(0, NAMED) ?? [];
  return named.map(({ bare }) => bare).join(" ");
}

/**
 * What a model says in the place of a call that nobody asked for, and what it can do instead. Its words are held against the record
 * by themselves: beside ours they are long enough for a draft.
 */
export function withoutCall(input: LaneInput, wish: string, text: string, call: ProposedCall): string {
  const unseen = unseenOf(input, wish, text, call);
  if (isTold(input, wish, text)) return text;
  if (unseen !== null) return unseen;
  const spoken = isSpoken(wish);
  // Of what it was to look at, or to do, it knows nothing without the call; a question of its own stands.
  const isAny = wordsOf(wish).some(({ bare }) => bare === "a" || bare === "an");
  const isOrder = !isAny && askedActs(wish).some(({ act }) => ON_FILES.has(act));
  const isEmpty =
    ((!spoken && (isOrder || isErrand(wish))) || mayBeOwn(wish) || recordQuery(wish) !== "") &&
    !text.trim().endsWith("?");
  const said = withoutFalseClaims(
    // Nor does it know what it was asked in another language.
    isEmpty || (!spoken && claimsOrder(input, wish, text)) || (input.quotes === true && wish.trim().endsWith("?"))
      ? ""
      : text,
    recordOf(input.messages, input.turnId, input.tools, input.actions),
  );
  const doubted = outOfMemory(input, wish, said);
  if (doubted !== "") return doubted;
  return said.trim() === "" ? able(input) : `${said}\n\n${able(input)}`;
}

/**
 * What is said where a model answers a question for which it wanted to look, and has not looked; null where its words may stand: it
 * knows what something is, why, and what is of the world.
 */
function unseenOf(input: LaneInput, wish: string, said: string, call: ProposedCall): string | null {
  const looks = input.tools.some(({ name, category }) => name === call.name && category === "read");
  const isQuestion = wish.trim().endsWith("?") && !said.trim().endsWith("?");
  const words = wordsOf(wish).map(({ bare }) => bare);
  const isKnown = !isAboutOwn(wish) || asksWhat(wish) || asksHow(wish) || words.some((word) => WORLD.has(word));
  if (!looks || !isQuestion || isKnown) return null;
  const query = Object.entries(call.arguments).flatMap(([name, value]) =>
    slotOf(name) === "query" && typeof value === "string" ? [value] : [],
  );
  const told = query.find((each) => {
    const asked = wordsOf(each);
    return asked.length > 0 && asked.every(({ bare }) => words.includes(bare));
  });
  return told === undefined ? able(input) : fill(copy.notLooked, () => told);
}

/** Whether a question may be about the person's own affairs: "has Theo paid?", and not "are you sure?". */
function isAboutOwn(wish: string): boolean {
  const words = wordsOf(wish).map(({ bare }) => bare);
  const first = String(words[0]);
  if (words.includes("you") || vocabulary.adviceModals.includes(first)) return false;
  const leans = vocabulary.leadingPrepositions.includes(first) && words.length <= LEANING;
  return leans || /^(?:Has|has) [A-Z]/.test(wish) || mayBeOwn(wish) || ownQueries(wish).length > 0;
}

/** Whether the person said before what answers the question: "my name is Ana". */
function isTold({ messages, turnId }: LaneInput, wish: string, said: string): boolean {
  const terms = termsIn(wish);
  const asked = terms.filter((term) => !LIGHT.has(term));
  const answer = termsIn(said).filter((term) => !terms.includes(term) && !LIGHT.has(term));
  const isOfSelf = asked.every((term) => SELF.has(term));
  const told = messages.some((each) => {
    const known = new Set(each.role === "user" && each.turnId !== turnId ? termsIn(toldIn(each.content)) : []);
    return answer.every((term) => known.has(term)) && (isOfSelf || asked.some((term) => known.has(term)));
  });
  return wish.trim().endsWith("?") && answer.length > 0 && told;
}

/** The sentences of a text that tell something: no question, no order, and nothing that is denied or left open. */
function toldIn(text: string): string {
  const isOpen = (sentence: string) => {
    const first = wordsOf(sentence).find(({ bare }) => !wishWords.fillers.includes(bare));
    return UNSURE.test(sentence) || ASKING.has(`${first?.bare}`);
  };
  return [...text.matchAll(/[^.!?\n]+[.!?]*/g)].flatMap(([each]) => (isOpen(each) ? [] : [each])).join(" ");
}

/**
 * Whether words alone do what is ordered, and none of somebody's own things are in it: a poem, "count to five", "list three fruits".
 */
function isSpoken(wish: string): boolean {
  const words = wordsOf(wish).flatMap(({ bare }) => (LEADING.has(bare) ? [] : [bare]));
  const isOwn = phrasesIn(wish, wordsOf(wish)).some((each) => each.words.length > 0 && !each.ofWorld);
  if (isOwn || wish.split(/\s+/).some(isThing)) return false;
  const [first, second] = [String(words[0]), String(words[1])];
  const isMany = MANY.has(second) || /^[0-9]+$/.test(second);
  const isList = vocabulary.acts.read.verbs.includes(first) && isMany && !words.slice(1).some((word) => KEPT.has(word));
  const isComposed = vocabulary.composingOrders.includes(first) && words.some((word) => COMPOSED.has(word));
  return WORDED.has(first) || isList || isComposed;
}

/** Whether a model says that what is ordered is done, or that it can do it: "the rows are sorted". */
function claimsOrder(input: LaneInput, wish: string, said: string): boolean {
  const ordered = wordsOf(wish).filter(({ bare }) => !LEADING.has(bare));
  const verbs = wishVerbs(offered(input.tools));
  const words = wordsOf(said).map(({ bare }) => bare);
  const told = ` ${words.join(" ")} `;
  return ordered.slice(0, 1).some(({ bare: verb }) => {
    const isDone = words.some((word) => verbs.forms.get(word) === verb);
    const isAble = vocabulary.modals.some((modal) => told.includes(` ${modal} ${verb} `));
    return verbs.all.has(verb) && (isDone || isAble);
  });
}

function able(input: LaneInput): string {
  return nameAbilities(abilitiesOf(withoutReader(offered(input.tools))));
}

/** Whether a model says no more than that it cannot help, as small ones do about a long tale. */
function declines(said: string): boolean {
  const plain = said.trim().toLowerCase().replaceAll("’", "'");
  return plain.length <= LONGEST_REFUSAL && vocabulary.helpRefusals.some((words) => plain.includes(words));
}

/** Whether a wish orders something that words alone do not do: "call the plumber", and not one for a text. */
function isErrand(wish: string): boolean {
  const [first] = wordsOf(wish).filter(({ bare }) => !LEADING.has(bare));
  return wishWords.imperatives.some((verb) => verb === first?.bare && !SPOKEN.has(verb));
}
