import { askedActs, bareThing, type ClosedCall, isAbout, isThing } from "./acts.ts";
import { type ClaimClause, claimClausesOf } from "./claim-clauses.ts";
import { anyPhrase, claimWords, holds } from "./claim-words.ts";
import { outcomeIn } from "./outcomes.ts";
import { isFile, type ReadingTool, readerAmong } from "./reading.ts";
import { onlyOpeners, sentencesOf } from "./sentences.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/* What a model says of a file that nobody read: it can know nothing of it, whatever it says. */

const ASKING: ReadonlySet<string> = new Set([...vocabulary.askingWords, ...vocabulary.explainingVerbs]);
const QUESTIONS: ReadonlySet<string> = new Set(vocabulary.questionWords);
const GENERAL = anyPhrase(claimWords.generalQuestions);
const ABOUT: ReadonlySet<string> = new Set(claimWords.about);
const EXCUSES: ReadonlySet<string> = new Set([
  ...claimWords.excuses,
  ...claimWords.negations,
  ...claimWords.modals,
  ...claimWords.chained,
]);
const NEGATIONS: ReadonlySet<string> = new Set(claimWords.negations);
const ACCESS: ReadonlySet<string> = new Set(claimWords.access);
const OPENERS: ReadonlySet<string> = new Set(claimWords.openers);
const INDEFINITE = /\b(?:an?|any) *$/i;

/** The file whose content a message asks for and none of these calls was about; null where there is none, or no tool reads. */
export function unreadFile(
  message: string,
  closed: readonly ClosedCall[],
  tools: readonly ReadingTool[],
): string | null {
  const words = wordsOf(message);
  const names = words.filter(({ start, end }) => isThing(message.slice(start, end)));
  const [file, ...others] = names
    .filter(({ start }) => !INDEFINITE.test(message.slice(0, start)))
    .map(({ start, end }) => bareThing(message.slice(start, end)))
    .filter(isFile);
  const acts = askedActs(message);
  const isReading = acts.some(({ act, things }) => act === "read" && things.length > 0);
  const asks = isReading || words.some(({ bare }, at) => ASKING.has(bare) || (at === 0 && QUESTIONS.has(bare)));
  const isGeneral = holds(words.map(({ bare }) => bare).join(" "), GENERAL) || message.includes("\n");
  if (file === undefined || !asks || isGeneral || readerAmong(tools) === null) return null;
  if (outcomeIn(message) !== null || acts.some(({ act }) => act !== "read")) return null;
  const done = closed.filter(({ result }) => result.outcome === "ok");
  const isKnown = (name: string) =>
    done.some(({ call, result }) => isAbout(call, name) || result.content.includes(name));
  return [file, ...others].some(isKnown) ? null : file;
}

/** A text without the sentences that could tell what a file says: what is left denies, asks, offers, or names a call. */
export function withoutContent(text: string, closed: readonly ClosedCall[]): string {
  const kept = sentencesOf(text).filter((sentence) => tellsNothing(sentence, closed));
  return kept.join("") === text ? text : kept.join("").trim();
}

function tellsNothing(sentence: string, closed: readonly ClosedCall[]): boolean {
  if (sentence.trim().endsWith("?") || closed.some(({ call }) => sentence.includes(call.name))) return true;
  return !onlyOpeners(sentence) && claimClausesOf(sentence).every(isOwn);
}

/** Whether a clause is about the agent, the person, or a file that cannot be had. */
function isOwn({ words }: ClaimClause): boolean {
  const said = words.filter((word) => !OPENERS.has(word));
  const [first] = said;
  if (first === undefined || first === "to") return true;
  if (ABOUT.has(first)) return said.some((word) => EXCUSES.has(word));
  return said.some((word) => NEGATIONS.has(word)) && said.some((word) => ACCESS.has(word));
}
