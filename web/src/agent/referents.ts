import type { Clause } from "./clauses.ts";
import { headOf } from "./objects.ts";
import { added, bareAt, moved, type Token } from "./tokens.ts";
import { vocabulary } from "./vocabulary.ts";
import type { WishVerbs } from "./wish-verbs.ts";
import { wishWords } from "./wish-words.ts";

/* What "it" and "them" are in a wish that is to stand by itself: what the wish beside it names. */

const { acts } = vocabulary;
const BACKWARDS: ReadonlySet<string> = new Set([...wishWords.backwards, ...wishWords.pronouns]);
const BEINGS: ReadonlySet<string> = new Set(wishWords.beings);
const COLLECTIVE: ReadonlySet<string> = new Set(wishWords.collective);
const DETERMINERS: ReadonlySet<string> = new Set(wishWords.determiners);
const PREPOSITIONS: ReadonlySet<string> = new Set(wishWords.prepositions);
const READING: ReadonlySet<string> = new Set(wishWords.readingVerbs);
const RESULTS: ReadonlySet<string> = new Set(wishWords.results);
const TEXT_VERBS: ReadonlySet<string> = new Set(wishWords.textVerbs);
const WRITING: ReadonlySet<string> = new Set(acts.write.verbs);
const CARRYING: ReadonlySet<string> = new Set([...WRITING, ...wishWords.composingVerbs, ...acts.send.verbs]);
const MAKING: ReadonlySet<string> = new Set(["make", "create"]);
const FOLDERS: ReadonlySet<string> = new Set(vocabulary.folderNouns);
const NOUNS: ReadonlySet<string> = new Set(vocabulary.documentNouns);
const PICKS: ReadonlySet<string> = new Set(Object.values(vocabulary.picks).flat());
const TARGETS: ReadonlySet<string> = new Set(wishWords.targets);
const PLACING: ReadonlySet<string> = new Set([...acts.move.verbs, ...vocabulary.placingVerbs]);
const ENTERED: ReadonlySet<string> = new Set(vocabulary.entryLinks);
const OUT_OF: ReadonlySet<string> = new Set(["from", "in", "inside"]);
const INSIDE: ReadonlySet<string> = new Set(["in", "with", "of"]);
const TARGET: ReadonlySet<string> = new Set(["to", "into", "in"]);
const POSSESSIVES: ReadonlySet<string> = new Set(wishWords.possessives);
const MOST_WORDS = 3;

type Tokens = readonly Token[];

/**
 * The clauses with names in the place of pronouns; null where it is not clear what one means, or where it means what another wish
 * comes to.
 */
export function withReferents(clauses: readonly Clause[], verbs: WishVerbs): Clause[] | null {
  const made: Clause[] = [];
  for (const clause of clauses) {
    // "Before deleting it, show me a.txt": only there a pronoun stands before what it means.
    const beside = made.at(-1) ?? (clause.order === "as-said" ? undefined : clauses[1]);
    const isLeaning = leans(clause.tokens);
    if (isLeaning && beside === undefined) return null;
    const tokens = isLeaning && beside ? named(clause.tokens, beside.tokens, verbs) : clause.tokens;
    if (tokens === null) return null;
    made.push({ ...clause, tokens });
  }
  return made;
}

/** Whether a clause goes back to another one: by a pronoun, or by what that one comes to. */
export function leans(tokens: Tokens): boolean {
  return tokens.some((_, at) => points(tokens, at));
}

function points(tokens: Tokens, at: number): boolean {
  const [token] = tokens.slice(at);
  if (token === undefined || token.isQuoted || token.isName) return false;
  const [before, after] = [bareAt(tokens.slice(0, at), -1), bareAt(tokens, at + 1)];
  const follows = token.mark === "" ? after : "";
  const isEmpty = token.bare === "it" && BEINGS.has(before) && follows !== "";
  const said = tokens.slice(0, at);
  const isInside = INSIDE.has(before) && token.bare !== "there";
  const isOwn = (isInside || isJoined(said)) && said.some(({ isName }) => isName);
  const isPair = token.bare === "both" && follows !== "";
  if (isEmpty || isOwn || isPair) return false;
  if (BACKWARDS.has(token.bare)) {
    const isDeterminer = follows !== "" && DETERMINERS.has(token.bare) && !POSSESSIVES.has(token.bare);
    return !isDeterminer || RESULTS.has(follows);
  }
  if (token.bare === "you" || picks(tokens, at)) return true;
  const isTold = PREPOSITIONS.has(after) && !TARGET.has(after);
  return (before === "the" || CARRYING.has(bareAt(tokens, 0))) && RESULTS.has(token.bare) && !isTold;
}

/** Whether two clauses were put together in these words. */
function isJoined(tokens: Tokens): boolean {
  return tokens.some(({ bare, at }) => bare === "and" && at < 0);
}

/** Whether a word means one of several files by how it stands among them: "the oldest letter". */
function picks(tokens: Tokens, at: number): boolean {
  const isNamed = tokens.some(({ isName }) => isName);
  const isKind = tokens.slice(at + 1, at + 3).some(({ bare }) => NOUNS.has(bare));
  return PICKS.has(bareAt(tokens, at)) && !isNamed && isKind;
}

/** A clause with what "it" or "them" means in its place. */
function named(tokens: Tokens, beside: Tokens, verbs: WishVerbs): Tokens | null {
  const [place = 0, ...more] = tokens.flatMap((_, at) => (points(tokens, at) ? [at] : []));
  const pronoun = tokens[place];
  const isPlaced = PLACING.has(bareAt(tokens, 0)) && tokens.some(({ isName }) => isName);
  if (pronoun?.bare === "there" && more.length === 0 && isPlaced && bareAt(tokens, place - 1) !== "from")
    return movedThere(tokens, place, pronoun, beside);
  if (pronoun?.bare === "there" && more.length === 0 && OUT_OF.has(bareAt(tokens, place - 1)))
    return namedThere(tokens, place, beside);
  const [verb, verbBeside] = [bareAt(tokens, 0), bareAt(beside, 0)];
  // A text that is said is what is written, so that "it" is only where it goes: "add milk to it".
  const isEntered = place > 2 && ENTERED.has(bareAt(tokens, place - 1));
  const isGiven = isEntered || tokens.slice(0, place).some(({ isQuoted }) => isQuoted);
  const isCarried = CARRYING.has(verb) && READING.has(verbBeside) && !isGiven;
  const isJoint = tokens.some(({ bare }) => COLLECTIVE.has(bare));
  if (pronoun === undefined || isJoint || isCarried || more.length > 0 || !wishWords.pronouns.includes(pronoun.bare))
    return null;
  const before = bareAt(tokens, place - 1);
  const isPlace = (PREPOSITIONS.has(before) || before === "off") && TEXT_VERBS.has(verbBeside);
  const meant = (isPlace ? placeOf(beside) : null) ?? meantBy(beside, verbs);
  const isMany = pronoun.bare !== "it";
  if (meant.length === 0 || isMany !== meant.length > 1) return null;
  const joined = meant.flatMap((each, number) => [...(number === 0 ? [] : [added("and")]), ...each.map(moved)]);
  const last = joined.splice(-1, 1).map((each) => ({ ...each, mark: pronoun.mark, gap: pronoun.gap }));
  return [...tokens.slice(0, place), ...joined, ...last, ...tokens.slice(place + 1)];
}

/** A move to the folder that the clause beside it makes or names: "make a folder new/, move a.txt there", "put it in there". */
function movedThere(tokens: Tokens, at: number, { mark, gap }: Token, beside: Tokens): Tokens | null {
  const [named, ...more] = beside.filter(({ isName }) => isName);
  const isFolder = named !== undefined && more.length === 0 && named.text.endsWith("/");
  const folder = madeFolder(beside) ?? (isFolder ? named : null);
  if (folder === null) return null;
  const start = PREPOSITIONS.has(bareAt(tokens, at - 1)) ? at - 1 : at;
  return [...tokens.slice(0, start), added("into"), { ...moved(folder), mark, gap }, ...tokens.slice(at + 1)];
}

/** A file of the folder that the clause beside it names: "list old/ and show me a.txt from there". */
function namedThere(tokens: Tokens, at: number, beside: Tokens): Tokens | null {
  const [file, ...files] = tokens.filter(({ isName }) => isName);
  const [folder, ...folders] = beside.filter(({ isName }) => isName);
  if (file === undefined || folder === undefined || files.length + folders.length > 0) return null;
  if (!folder.text.endsWith("/") || file.text.includes("/")) return null;
  const text = `${folder.text}${file.text}`;
  const path = { ...moved(file), text, bare: text.toLowerCase() };
  const named = tokens.map((token) => (token === file ? path : token));
  return [...named.slice(0, at - 1), ...named.slice(at + 1)];
}

/** What a clause is about: the names in it, or its plain object. Of a move it is where the thing is then. */
function meantBy(beside: Tokens, verbs: WishVerbs): Tokens[] {
  const verb = bareAt(beside, 0);
  const names = beside.filter(({ isName }) => isName);
  if (names.length > 0 && !isObject(beside)) return [];
  if (names.length > 0) {
    const listed = listedIn(beside);
    if (listed.length > 1) return listed.map((each) => [each]);
    return [acts.move.verbs.includes(verb) ? names.slice(-1) : names.slice(0, 1)];
  }
  const folder = madeFolder(beside);
  if (folder !== null) return [[folder]];
  const head = headOf(beside, verbs);
  if (head === 0 || TEXT_VERBS.has(verb)) return [];
  const place = beside.findIndex(({ bare }, at) => at >= head && PREPOSITIONS.has(bare));
  const whole = beside.slice(head, place < 0 ? beside.length : place);
  const thing = bareAt(whole, -1) === "off" ? whole.slice(0, -1) : whole;
  const isLong = thing.length === 0 || thing.length > MOST_WORDS;
  return isLong || thing.some(({ bare, isQuoted }) => bare === "and" || isQuoted) ? [] : [thing];
}

/** The name of a folder that is made, without a slash: "make a folder archive", "create a folder called archive". */
function madeFolder(beside: Tokens): Token | null {
  const at = beside.findIndex(({ bare }) => FOLDERS.has(bare));
  const [name, ...more] = at < 0 ? [] : beside.slice(at + 1).filter(({ bare }) => !vocabulary.namedBy.includes(bare));
  const isMade = MAKING.has(bareAt(beside, 0)) && name !== undefined && more.length === 0;
  return isMade ? { ...name, mark: "", gap: " " } : null;
}

/** Whether the first name of a clause is what something is done to, and not the place where something is. */
function isObject(beside: Tokens): boolean {
  const at = beside.findIndex(({ isName }) => isName);
  const before = bareAt(beside, at - 1);
  return !PREPOSITIONS.has(before) || TARGETS.has(before) || WRITING.has(bareAt(beside, 0));
}

/** Where a clause puts something: "take it off the list" goes back to "add it to the list". */
function placeOf(beside: Tokens): Tokens[] | null {
  const at = beside.findIndex(({ bare }) => PREPOSITIONS.has(bare));
  const place = at < 0 ? [] : beside.slice(at + 1);
  return place.length <= MOST_WORDS && DETERMINERS.has(bareAt(place, 0)) ? [place] : null;
}

/** The names of a list at the first name of a clause. */
function listedIn(tokens: Tokens): Token[] {
  const rest = tokens.slice(tokens.findIndex(({ isName }) => isName));
  const ends = rest.findIndex(({ bare, mark, isName }, at) => {
    const isListed = isName && (mark === "," || bareAt(rest, at + 1) === "and");
    return bare !== "and" && !isListed;
  });
  return rest.slice(0, ends < 0 ? rest.length : ends + 1).filter(({ isName }) => isName);
}
