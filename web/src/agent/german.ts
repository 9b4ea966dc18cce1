import written from "../../../loop/german.json" with { type: "json" };
import { isThing } from "./acts.ts";
import type { Message } from "./messages.ts";
import { vocabulary } from "./vocabulary.ts";
import { QUOTED } from "./words.ts";

/*
 * A wish in German as the loop reads it: its frame in English, while names, things and texts stay as the person wrote them. What
 * the loop tells of a wish by its words it tells of English ones. A wish that no pattern of `loop/german.json` holds stays as it
 * is, and the model has it in the person's own words.
 */

const MARKERS: ReadonlySet<string> = new Set(written.markers);
const ORDERS: ReadonlySet<string> = new Set(written.orders);
const DENYING: ReadonlySet<string> = new Set(written.denying);
const FOREIGN: ReadonlySet<string> = new Set(written.foreign);
const LEAD = new RegExp(`^(?:${written.leads.join("|")})`, "iu");
const ASKED_VERBS: Readonly<Record<string, string>> = written.askedVerbs;
const ASKED = new RegExp(`^${written.asked} (${Object.keys(ASKED_VERBS).join("|")})$`, "iu");
/** An order as signs have it: "a.txt nicht löschen". */
const INFINITIVE = new RegExp(`^(.+) (${Object.keys(ASKED_VERBS).join("|")})$`, "iu");
/** How a question begins, and what somebody tells: both have the verb at their end too. */
const ASKS = new RegExp(`^(?:${written.askers.join("|")}) `, "iu");
const ASKER = new RegExp(`^(?:${written.askers.join("|")})$`, "iu");
const FRAMES = written.frames.map(([pattern = "", english = ""]) => ({
  pattern: new RegExp(`^(?:${pattern})$`, "iu"),
  english,
}));
const JOINT = new RegExp(written.joint, "iu");
const WORDS: ReadonlyMap<string, string> = new Map(Object.entries(written.words));
const NOUNS: ReadonlySet<string> = new Set(written.nouns);
const LEADING: ReadonlySet<string> = new Set(written.leadingNouns);
const NEGATION = `${written.negation}(?=[\\s,]|$)`;
const NOT = new RegExp(`(?<quoted>${QUOTED.source})|(?:^|\\s)${NEGATION}`, "giu");
const NOT_AT_ALL = new RegExp(`^\\S+ ${NEGATION}`, "iu");
/** Orders in whose text a "not" may stand as well. */
const SAYING: ReadonlySet<string> = new Set(written.saying);
const OPENERS: ReadonlySet<string> = new Set(vocabulary.questionOpeners);
const LISTS = new RegExp(`^(?:${written.lists})$`, "iu");
/** Words of German that a wish has at least. */
const FEWEST = 2;

/**
 * Whether somebody speaks German here: two words that are no English ones, an order in the first or the last place, or a "not",
 * and no word that is only English.
 */
export function isGerman(wish: string): boolean {
  const said =
    wish
      .replaceAll(QUOTED, " ")
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  // Letters that English has not stand in names too, so that they are a second sign at most.
  const hasLetter = said.some((word) => /[äöüß]/.test(word) && !MARKERS.has(word));
  const [first = "", second = ""] = said;
  // "Was ist" begins no English sentence, though its first word is an English one too.
  const isAsked = !MARKERS.has(first) && ASKER.test(first) && MARKERS.has(second);
  const signs = [ORDERS.has(first), hasLetter, isAsked].filter((each) => each);
  const count = said.filter((word) => MARKERS.has(word)).length + signs.length;
  const isOrder = Object.hasOwn(ASKED_VERBS, said.at(-1) ?? "");
  return (
    (count >= FEWEST || isOrder || said.some((word) => DENYING.has(word))) && !said.some((word) => FOREIGN.has(word))
  );
}

/** The wish with its frame in English; itself where it is no German, or none that is known. */
export function inEnglish(wish: string): string {
  if (!isGerman(wish)) return wish;
  let said = wish.replace(/[?.! ]+$/, "");
  while (LEAD.test(said)) said = said.replace(LEAD, "");
  const [, object = "", verb] = ASKED.exec(said) ?? (ASKS.test(said) ? null : INFINITIVE.exec(said)) ?? [];
  if (verb !== undefined) said = `${ASKED_VERBS[verb.toLowerCase()]} ${object}`;
  const told = said.split(JOINT).map(framed);
  if (!told.includes(null)) return told.join(" and ");
  // An order that no pattern holds is still one not to do something.
  const spared = said.split(" ").filter(isThing);
  return spared.length > 0 && denies(said) ? `do not change ${spared.join(" ")}` : wish;
}

/** Whether it is an order with a "not". */
function denies(said: string): boolean {
  return withoutNot(said) !== said && !ASKS.test(said);
}

function withoutNot(said: string): string {
  return said.replaceAll(NOT, (_, quoted: string | undefined) => quoted ?? "");
}

/**
 * One wish with its frame in English; null where no pattern holds it. An order not to do something begins with that: a "not" after
 * the name of a file would be lost.
 */
function framed(said: string): string | null {
  const told = frame(said);
  const order = withoutNot(said);
  const verb = told?.split(" ", 1)[0] ?? "";
  if (order === said || OPENERS.has(verb) || (SAYING.has(verb) && !NOT_AT_ALL.test(said))) return told;
  const spared = frame(order);
  return spared === null ? null : `do not ${spared}`;
}

function frame(said: string): string | null {
  for (const { pattern, english } of FRAMES) {
    const held = pattern.exec(said);
    if (held === null) continue;
    // A text in quotes is the person's own.
    return english.replaceAll(/("?)\$([0-9])/g, (_, quote: string, at: string) => {
      const text = held[Number(at)] as string;
      return quote === "" ? phrase(text) : `"${text}`;
    });
  }
  return null;
}

/** The same messages, with what the person said in German as `inEnglish` has it. */
export function withFramesInEnglish(messages: readonly Message[]): readonly Message[] {
  return messages.map((each) => (each.role === "user" ? { ...each, content: inEnglish(each.content) } : each));
}

/**
 * Words of a wish, with those that only frame it in English. A noun after its article is written small, as English has it: in
 * capitals it would be taken for a name. Any other word that is written large is one: "Manuel Neue".
 */
function phrase(text: string): string {
  let isLed = false;
  const told = text.split(" ").map((word, at) => {
    const bare = word.toLowerCase().replace(/[,;:]*$/, "");
    const [, listed] = LISTS.exec(word) ?? [];
    const spelt = isLed ? bare : word.slice(0, bare.length);
    const isName = at > 0 && !NOUNS.has(bare) && /^\p{Lu}/u.test(spelt) && spelt !== spelt.toUpperCase();
    const plain = (isName ? spelt : (WORDS.get(bare) ?? spelt)) + word.slice(bare.length);
    isLed = LEADING.has(bare) || (isLed && /^[0-9]{1,2}\.$/.test(word));
    if (isThing(word) || word.includes('"')) return word;
    return listed === undefined ? plain : `${listed.toLowerCase()} list`;
  });
  return told.join(" ");
}
