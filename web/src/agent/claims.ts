import {
  ACTS,
  type AskedAct,
  askedActs,
  bareThing,
  type ClosedCall,
  does,
  isAbout,
  isThing,
  missingThings,
} from "./acts.ts";
import { isAsserted, isGeneral, isOwn } from "./assertions.ts";
import { type ClaimClause, claimClausesOf } from "./claim-clauses.ts";
import { ACT_PHRASES, anyPhrase, claimWords, endsAll, type Form, formsOf, holds, speaksOfAll } from "./claim-words.ts";
import { claimsInGerman } from "./german-claims.ts";
import type { Message } from "./messages.ts";
import { partsOf } from "./names.ts";
import { stem, termsIn } from "./ranking.ts";
import { canDo, changes, isDone, wordsAbout } from "./recorded.ts";
import { REPORTED_STATES, reportsAct, reportsState } from "./reported.ts";
import { onlyOpeners, sentencesOf } from "./sentences.ts";
import { progressOf } from "./turn-progress.ts";
import { claimsUnlisted, type ToolOnOffer, type UnlistedBasis } from "./unlisted.ts";
import { vocabulary } from "./vocabulary.ts";
import { actsOf, type MessageActs, OTHER, undoubled } from "./wished.ts";
import { hasMoreWords, QUOTED, wordsOf } from "./words.ts";

/*
 * What a model's words claim was done, held against the calls that ran. A sentence proves nothing: what was done is what the
 * calls' records say. A sentence that claims an act of which no call is on record is not shown. What a text merely tells, as a
 * letter does that somebody sent, is no claim.
 */

/** What a turn's words are held against. */
export interface TurnRecord {
  /** What the person said. */
  readonly message: string;
  /** The calls of the turn that have closed, in order. */
  readonly closed: readonly ClosedCall[];
  /** Those of the turns before it. */
  readonly earlier: readonly ClosedCall[];
  /** The tools on offer. */
  readonly tools: readonly ToolOnOffer[];
  /** The one of several wishes that the words are about; left away where it is all. */
  readonly wish?: string | undefined;
}

/** A word of a clause that says that one of these acts was done. */
interface Claim {
  readonly acts: ReadonlySet<string>;
  readonly number: number;
  readonly at: number;
  readonly form: Form;
}

type WordSet = ReadonlySet<string>;

/** What is reported of a thing that no wish is about. */
const STATE = "state";
/** Acts that nobody means by a word for another. */
const DISTINCT: WordSet = new Set(["delete", "send", "buy"]);
const UNCLAIMED: WordSet = new Set([...vocabulary.negations, ...vocabulary.modals]);
/** Words that two sentences share by chance. */
const COMMON: WordSet = new Set([
  ...vocabulary.commonTerms,
  ...vocabulary.fillers,
  ...vocabulary.cues,
  ...ACTS.flatMap(([, { verbs }]) => verbs),
]);
/** Words of the message that no call was about. One may be a word for what the call was about. */
const BEYOND = 2;
/** How a report of a finished act begins. */
const FINISHED = /^[^A-Za-z0-9_]*(?:all )?done\b/i;
/** Words within which what belongs to a verb follows it: "turned the lamp on". */
const NEAR = 5;
/** Words of an answer that is no draft of a text. */
const SHORT = 40;
const SHORTEST_PAST = 4;
const BLOCK = /^(`{3,})\n(.*?)\n\1$/gms;
const EMPTY_BLOCK = /^`{3,}[^`\n]*\n(?:[^\S\n]*\n)*`{3,}$/gm;
const NUMBERED = /^[0-9]+: /;

const STATES = new Map(ACT_PHRASES.map(([act, { states }]) => [act, anyPhrase(states)]));
const NOUNS = new Map(ACT_PHRASES.map(([act, { nouns }]) => [act, anyPhrase(nouns)]));
const COMPLETIONS = anyPhrase(claimWords.completions);
const EVENTS = anyPhrase([...claimWords.events, ...claimWords.completions]);
const NOW = anyPhrase(claimWords.nowStates);
const PLACES = anyPhrase(claimWords.places);
const TEXTS: WordSet = new Set(claimWords.textNouns);
const COMPOSING: WordSet = new Set(claimWords.composing);
const PLAIN: WordSet = new Set([...claimWords.plain, ...claimWords.be, ...claimWords.have, ...claimWords.adverbs]);
const OWN: WordSet = new Set(claimWords.own);
const BEFORE_PAST: WordSet = new Set([...claimWords.have, "'d", ...claimWords.passives]);
const ADVERBS: WordSet = new Set(claimWords.adverbs);
/** Words of a sentence that denies, asks, plans or explains. */
const EXCUSES: WordSet = new Set([
  ...claimWords.excuses,
  ...claimWords.negations,
  ...claimWords.modals,
  ...claimWords.chained,
  ...claimWords.conditions,
  ...claimWords.times,
]);

/** What the words of a turn are held against, as it stands. */
export function recordOf<T extends ToolOnOffer>(
  messages: readonly Message[],
  turnId: string,
  tools: readonly T[],
  actions: readonly string[] | null = null,
): TurnRecord & { readonly tools: readonly T[] } {
  const { message, closed, finished } = progressOf(messages, turnId);
  const earlier = messages.flatMap((each) => (each.role === "tool" && each.turnId !== turnId ? [each] : []));
  return { message, closed, earlier, tools, wish: actions?.[finished] };
}

/** The text without the sentences that claim what no call on record did. The same text where there is none. */
export function withoutFalseClaims(text: string, record: TurnRecord): string {
  const judge = new ClaimJudge(record);
  const isShort = isShortAnswer(text);
  const kept: string[] = [];
  let end = 0;
  for (const { 0: block, 2: quoted = "", index } of text.matchAll(BLOCK)) {
    if (!judge.isQuoted(quoted)) continue;
    kept.push(...judge.keptOf(text.slice(end, index), isShort), block);
    end = index + block.length;
  }
  kept.push(...judge.keptOf(text.slice(end), isShort));
  if (kept.join("") === text) return text;
  const told = kept.filter((sentence) => !onlyOpeners(sentence)).join("");
  return told.replaceAll(EMPTY_BLOCK, "").trim();
}

/** Whether a text is too short to be a draft of something. */
export function isShortAnswer(text: string): boolean {
  return !hasMoreWords(text, SHORT);
}

/** Holds sentences against one record. */
export class ClaimJudge {
  /** Whether a change was asked for, and no call has made one. */
  readonly isUndone: boolean;
  readonly #record: TurnRecord;
  readonly #acts: MessageActs;
  readonly #asked: readonly AskedAct[];
  readonly #done: readonly ClosedCall[];
  readonly #before: readonly ClosedCall[];
  readonly #hasChanged: boolean;
  readonly #basis: UnlistedBasis;
  readonly #called: WordSet;
  readonly #missing: WordSet;

  constructor(record: TurnRecord) {
    const { message, closed, earlier, tools } = record;
    this.#record = record;
    this.#acts = actsOf(message);
    this.#asked = askedActs(message);
    this.#done = closed.filter(isDone);
    this.#before = [...earlier.filter(isDone), ...this.#done];
    const changed = this.#done.filter((each) => changes(each, tools));
    this.#hasChanged = changed.length > 0;
    this.#basis = { message, before: this.#before, changes: changed, tools };
    this.#called = new Set(this.#done.flatMap(({ call }) => partsOf(call.name)).map((part) => undoubled(stem(part))));
    this.isUndone = this.#acts.wished.size > 0 && !this.#hasChanged;
    const missing = this.#asked.flatMap((asked) => {
      const calls = this.#done.map(({ call }) => call).filter((call) => does(asked.act, call, tools));
      return asked.act === "read" ? [] : missingThings(asked, calls);
    });
    this.#missing = new Set(missing);
  }

  /** The sentences of a text that claim nothing or are borne out. */
  keptOf(text: string, isShort: boolean): string[] {
    return sentencesOf(text).filter((sentence) => !this.isFalse(sentence, isShort));
  }

  /** Whether each line of a block stands in a result, as the loop itself shows it: what a file says is no claim of the agent's. */
  isQuoted(block: string): boolean {
    const contents = this.#record.closed.map(({ result }) => result.content).join("\n");
    return block.split("\n").every((line) => contents.includes(line.replace(NUMBERED, "")) || contents.includes(line));
  }

  /** Whether a sentence claims what no call did. `isShort`: it stands in an answer that is no draft of a text. */
  isFalse(sentence: string, isShort: boolean): boolean {
    if (sentence.trim().endsWith("?")) return false;
    if (this.#goesBeyond(sentence) || this.#finishesUnseen(sentence)) return true;
    const clauses = claimClausesOf(
      sentence.replaceAll(QUOTED, (quoted) => (this.#isToldQuotation(quoted) ? " " : quoted)),
    );
    const claims = this.#claimsIn(clauses);
    if (claims.some((claim) => this.#isUnrecorded(claim, clauses, sentence, isShort))) return true;
    const canReport = this.#canReport(isShort);
    if (claimsUnlisted(sentence, clauses, this.#basis, canReport)) return true;
    if (canReport && claimsInGerman(sentence, this.#basis)) return true;
    return claims.length === 0 && isShort && this.#isBaseless(sentence, clauses);
  }

  /** Whether an answer reports. After a call, its words are told of the result and are no draft. */
  #canReport(isShort: boolean): boolean {
    return isShort && (this.#done.length > 0 || !this.#acts.isText);
  }

  /**
   * Whether a sentence says anything of what was to be changed, where no call ran: in whatever words, the model can know nothing of
   * it. A draft of a text is longer.
   */
  #isBaseless(sentence: string, clauses: readonly ClaimClause[]): boolean {
    const { objects } = this.#acts;
    if (!this.isUndone || this.#done.length > 0 || !termsIn(sentence).some((term) => objects.has(term))) return false;
    return !clauses.some(
      (clause) => clause.words.some((word) => EXCUSES.has(word)) || clause.words[0] === "to" || isGeneral(clause),
    );
  }

  /** Whether a quotation of several words stands in a result or the message. */
  #isToldQuotation(quoted: string): boolean {
    const inner = quoted.slice(1, -1);
    const contents = this.#before.map(({ result }) => result.content);
    return inner.includes(" ") && [this.#record.message, ...contents].some((text) => text.includes(inner));
  }

  #claimsIn(clauses: readonly ClaimClause[]): Claim[] {
    const hasEvent = clauses.some((each) => holds(each.words.join(" "), EVENTS));
    const found = clauses.flatMap(({ words }, number) => [
      ...words.flatMap((word, at): Claim[] => {
        const rest = words.slice(at + 1, at + 1 + NEAR);
        const forms = formsOf(word).filter(
          ({ particles }) => particles.length === 0 || particles.some((each) => rest.includes(each)),
        );
        const [first] = forms;
        if (first !== undefined) return [{ acts: new Set(forms.map(({ act }) => act)), number, at, form: first.form }];
        return this.isUndone && this.#isOpen(words, at) ? [{ acts: new Set([OTHER]), number, at, form: "past" }] : [];
      }),
      ...this.#statesIn(words, number, hasEvent),
    ]);
    return found.filter(({ number, at, form }) => isAsserted(clauses, number, at, form));
  }

  /** What the acts of the message bring about, and words for the end of any work. */
  #statesIn(words: readonly string[], number: number, hasEvent: boolean): Claim[] {
    const text = words.join(" ");
    const found = new Map<number, Set<string>>();
    const note = (act: string, phrases: RegExp | undefined) => {
      for (const { index } of phrases === undefined ? [] : text.matchAll(phrases))
        found.set(index, (found.get(index) ?? new Set()).add(act));
    };
    for (const act of new Set([...this.#acts.wished, ...this.#acts.askedAbout])) {
      note(act, STATES.get(act));
      if (hasEvent) note(act, NOUNS.get(act));
    }
    if (this.isUndone || (this.#missing.size > 0 && endsAll(words))) note(OTHER, COMPLETIONS);
    if (this.isUndone && !words.some((word) => OWN.has(word))) note(OTHER, NOW);
    if (!this.isUndone && !this.#hasChanged)
      for (const { index } of text.matchAll(REPORTED_STATES)) if (!found.has(index)) found.set(index, new Set([STATE]));
    return [...found].map(([start, acts]) => {
      const at = text.slice(0, start).split(" ").length - 1;
      return { acts, number, at, form: "state" };
    });
  }

  /** Whether it is the past of a verb that no list has: "I have zapped", "has been zapped", and the message's own verb. */
  #isOpen(words: readonly string[], at: number): boolean {
    const [word = ""] = words.slice(at);
    if (!/e[dn]$/.test(word) || PLAIN.has(word) || word.length < SHORTEST_PAST) return false;
    if (this.#called.has(undoubled(stem(word)))) return false;
    if (word.endsWith("ed") && this.#acts.stems.has(undoubled(stem(word)))) return true;
    const last = words.slice(0, at).findLast((each) => !ADVERBS.has(each)) ?? "";
    return BEFORE_PAST.has(last) || (OWN.has(last) && word.endsWith("ed"));
  }

  #isUnrecorded(claim: Claim, clauses: readonly ClaimClause[], sentence: string, isShort: boolean): boolean {
    const { acts, number, at } = claim;
    if (acts.has(OTHER)) return true;
    const canReport = this.#canReport(isShort);
    if (acts.has(STATE)) {
      const { message } = this.#record;
      const isReport = clauses.slice(number, number + 1).some((clause) => reportsState(clause, at, message));
      return canReport && isReport && !this.#beforeSays(sentence);
    }
    const named = clauses.flatMap(({ things }) => [...things]);
    const { wished, askedAbout } = this.#acts;
    const isTold = this.#isTold(claim, sentence);
    return clauses.slice(number, number + 1).some((clause) => {
      let messages = this.#before;
      if ([...acts].some((act) => wished.has(act))) {
        if (isTold && !named.some((thing) => this.#missing.has(thing)) && !isOwn(clause.words, at)) return false;
        if (!clause.words.includes("already")) messages = this.#done;
      } else {
        const isAsked = (this.isUndone && !acts.has("read")) || [...acts].some((act) => askedAbout.has(act));
        const isClaim = this.#claimsUnasked(claim, clause) || (canReport && this.#reports(claim, clause));
        if (isTold || !(isAsked || isClaim)) return false;
      }
      return ![...acts].some((act) => this.#isRecorded(act, clause, messages, named));
    });
  }

  /**
   * Whether a word for an act that the message does not ask for claims it: of the agent itself, or of a thing that nothing on record
   * is about.
   */
  #claimsUnasked({ acts, at, form }: Claim, { words, things }: ClaimClause): boolean {
    const isFirstPerson = words.some((word) => OWN.has(word));
    if (acts.has("read"))
      return (form === "past" || form === "same") && things.size > 0 && isFirstPerson && isOwn(words, at);
    if (isOwn(words, at)) {
      const hasSubject = isFirstPerson || words.includes("me");
      if (things.size > 0 || !hasSubject || this.#acts.isText || words.some((word) => TEXTS.has(word)))
        return things.size > 0;
      return !words.slice(at, at + 1).some((word) => COMPOSING.has(word)) || holds(words.join(" "), PLACES);
    }
    return form === "past" && things.size > 0 && ![...things].some((thing) => this.#isKnown(thing));
  }

  /**
   * Whether a sentence reports such an act without saying who did it. Where something was changed, it may be another word for that.
   */
  #reports({ acts, at, form }: Claim, clause: ClaimClause): boolean {
    const isOther = this.#hasChanged && ![...acts].some((act) => DISTINCT.has(act));
    if (isOther || acts.has("read")) return false;
    const isFound = this.#before.some(({ result }) =>
      [...clause.things].some((thing) => result.content.includes(thing)),
    );
    return reportsAct(clause, at, form, isFound);
  }

  /** Whether a line of a result shares more with a sentence than chance. */
  #beforeSays(sentence: string): boolean {
    const terms = new Set(termsIn(sentence));
    const lines = this.#before.flatMap(({ result }) => result.content.split("\n"));
    return lines.some((line) => new Set(termsIn(line).filter((term) => terms.has(term))).size > 1);
  }

  /** Whether the message, a call or a result names it. */
  #isKnown(thing: string): boolean {
    const { message } = this.#record;
    return (
      message.includes(thing) ||
      this.#before.some(({ call, result }) => isAbout(call, thing) || result.content.includes(thing))
    );
  }

  /** Whether a result says so: in these words, or in a line about the same. */
  #isTold({ acts }: Claim, sentence: string): boolean {
    if (this.#before.some(({ result }) => result.content.includes(sentence.trim()))) return true;
    const terms = new Set(termsIn(sentence));
    const lines = this.#before.flatMap(({ result }) => result.content.split("\n"));
    return lines.some((line) => {
      const isSame = wordsOf(line).some(({ bare }) =>
        formsOf(bare).some(({ act, form }) => acts.has(act) && form !== "base"),
      );
      return isSame && new Set(termsIn(line).filter((term) => terms.has(term))).size > 1;
    });
  }

  #isRecorded(
    act: string,
    { words, things }: ClaimClause,
    messages: readonly ClosedCall[],
    named: readonly string[],
  ): boolean {
    if (act === "read") return messages.some(({ call }) => [...things].some((thing) => isAbout(call, thing)));
    const calls = messages.filter((each) => canDo(act, each, this.#record.tools)).map(({ call }) => call);
    const missing = new Set(this.#asked.flatMap((asked) => (asked.act === act ? missingThings(asked, calls) : [])));
    if (calls.length === 0 || named.some((thing) => missing.has(thing))) return false;
    if (missing.size > 0 && speaksOfAll(words)) return false;
    return things.size === 0 || [...things].some((thing) => this.#isKnown(thing));
  }

  #isNamed(word: string): boolean {
    return isThing(word) && this.#done.some(({ call }) => isAbout(call, word));
  }

  /** Whether a sentence says "done" of a thing that the message names and no call or result of the conversation does. */
  #finishesUnseen(sentence: string): boolean {
    if (onlyOpeners(sentence) || !FINISHED.test(sentence)) return false;
    const names = wordsOf(sentence).map(({ start, end }) => bareThing(sentence.slice(start, end)));
    const things = names.filter((name) => isThing(name) && this.#record.message.includes(name));
    return things.some(
      (thing) => !this.#before.some(({ call, result }) => isAbout(call, thing) || result.content.includes(thing)),
    );
  }

  /**
   * Whether a sentence takes over of several wishes what no call was about: "the timer and the lamp are set", where only the timer
   * was. Asked to tell of one call, a small model tells of the whole message.
   */
  #goesBeyond(sentence: string): boolean {
    const { message, closed } = this.#record;
    const words = wordsOf(sentence).map(({ bare }) => bare);
    const asked = new Set(wordsOf(message).map(({ bare }) => bare));
    const isList = /[,;]/.test(message) || vocabulary.cues.some((cue) => asked.has(cue));
    const isTold = closed.some(({ result }) => result.content.includes(sentence.trim()));
    if (!isList || !this.#hasChanged || isTold) return false;
    if (words.some((word) => UNCLAIMED.has(word) || /n['’]t$/.test(word))) return false;
    const covered = new Set(this.#done.flatMap(wordsAbout).map(stem));
    const taken = words.filter((word) => asked.has(word) && !COMMON.has(word) && !covered.has(stem(word)));
    return new Set(taken.filter((word) => !this.#isNamed(word))).size >= BEYOND;
  }
}
