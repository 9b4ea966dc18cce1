import limits from "../../../loop/limits.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { questionIn, spends } from "./affairs.ts";
import { answerCode } from "./code-asked.ts";
import { copy } from "./copy.ts";
import { cited, excerptOf, numbered } from "./excerpts.ts";
import { answerFigure, asksForFigure, figureIn, type ResultSource } from "./figures.ts";
import { fill } from "./fill.ts";
import { findingIn } from "./finding.ts";
import { pageOf } from "./kept.ts";
import { answerLines } from "./line-places.ts";
import { answerListing } from "./listed.ts";
import { answerLevel } from "./log-levels.ts";
import { answerValue } from "./looked-up.ts";
import type { ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";
import { withOpenRead } from "./open-readings.ts";
import { closestLines, inventsNumber, linesOf, missedLine, placeOf } from "./passages.ts";
import { withoutPick } from "./picking.ts";
import { answerPresence } from "./presence.ts";
import { fixedReport } from "./prompts.ts";
import { numbersIn } from "./quantities.ts";
import { termsIn } from "./ranking.ts";
import { answerRows } from "./row-answers.ts";
import { answerSwitch } from "./switched.ts";
import { rowsAbout, tableOf } from "./tables.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * What the loop itself answers from a result: the content that was asked to be seen, the figures of a machine, and numbers that
 * somebody would have to work out. A small model words these wrongly.
 */

type Tools = readonly Pick<ToolDescriptor, "name" | "category">[];

const COMPLETED = new RegExp(`^(?:${anyOf(vocabulary.completions)})\\b`, "i");
const DEFINED = /^what (?:does|is) ["'`]?(?<term>[A-Za-z][A-Za-z0-9_-]{0,60})["'`]?(?: mean| stand for)?[?.! ]*$/i;
const NEWEST: ReadonlySet<string> = new Set(vocabulary.newestWords);
const LOOKING: ReadonlySet<string> = new Set([...vocabulary.searchVerbs, "list"]);
const SAME = Object.values(vocabulary.sameWords);

/** What a result is of, for people: its file, what was searched for, or the tool. Only a file has lines that people know. */
export function sourceOf({ call, result }: ToolMessage): ResultSource {
  const slots = new Map(
    Object.entries(call.arguments).flatMap(([name, value]) =>
      typeof value === "string" ? [[slotOf(name), value] as const] : [],
    ),
  );
  const name = slots.get("query") || slots.get("path") || slots.get("url") || call.name;
  // Of a part of a file, the lines have other numbers.
  const hasLines = partsOf(call.name).includes("read") && slots.has("path") && (call.arguments.first_line ?? 1) === 1;
  return { name, text: pageOf(result.content).text, whole: !result.truncated, hasLines };
}

/** The loop's own answer to a wish from a finished call; null where the model's words are better. */
export function ownAnswer(message: ToolMessage, asks: string, tools: Tools, today: string): string | null {
  const { call, result } = message;
  const category = tools.find(({ name }) => name === call.name)?.category;
  const isShown = words.report.shown.includes(call.name);
  const source = sourceOf(message);
  const wish = withOpenRead(asks, source);
  const answer =
    definitionIn(wish, source) ??
    answerLines(wish, source) ??
    answerLevel(wish, source) ??
    answerCode(wish, source) ??
    answerSwitch(wish, source) ??
    answerPresence(wish, source) ??
    answerRows(wish, source, today) ??
    answerListing(wish, source);
  if (answer !== null) return answer;
  const stated = category === "read" && !spends(wish) ? statedIn(wish, source) : null;
  if (category === "read" && asksForFigure(withoutPick(wish))) {
    const said = foundNothing(call.name, source) ? null : answerFigure(wish, source);
    if (said !== null) return said;
    const figure = figureIn(wish);
    const isExtreme = figure === "largest" || figure === "smallest";
    const isDoubtful = !isExtreme || linesOf(source.text).some((line) => numbersIn(line).length > 0);
    if (stated === null && isDoubtful && (source.hasLines || !isShown))
      return showClosest(copy.notComputed, wish, source);
  }
  const spent =
    category === "read" && spends(wish) && figureIn(wish) === null ? answerFigure(`total: ${wish}`, source) : null;
  if (spent !== null || stated !== null) return spent ?? stated;
  const value = category === "read" ? answerValue(wish, source) : null;
  if (value !== null) return value;
  const sentence = fixedReport(message, wish);
  if (sentence === null || !isShown) return sentence;
  const { text, leftOut } = excerptOf(
    source.hasLines ? source.text : askedLines(linesOf(source.text), wish).join("\n"),
  );
  const rest = leftOut === 1 ? copy.leftOutOne : fill(copy.leftOut, () => `${leftOut}`);
  const more = pageOf(result.content).next === "" ? "" : `\n${copy.readOn}`;
  return `${sentence}\n\n${text}${leftOut === 0 ? "" : `\n${rest}`}${more}`;
}

/** Whether a search or a listing came to one line that names nothing: "nothing found in 3 files" is no entry to be counted. */
function foundNothing(tool: string, { text, name }: ResultSource): boolean {
  const looks = partsOf(tool).some((part) => LOOKING.has(part));
  return looks && linesOf(text).length === 1 && tableOf(text, name) === null;
}

/** A model's answer with the lines of the file that hold it, where some few do. */
export function withPlace(answer: string, wish: string, message: ToolMessage): string {
  const { name, text, hasLines } = sourceOf(message);
  const place = hasLines ? placeOf(answer, wish, text, name) : null;
  if (place === null) return answer;
  const lines = Array.from({ length: place.last - place.first + 1 }, (_, at) => place.first + at);
  // Behind the last row of a table it would be one more cell.
  const joint = linesOf(answer).at(-1)?.trim().startsWith("|") ? "\n\n" : " ";
  return `${answer}${joint}${cited(name, lines)}`;
}

/**
 * Whether an answer holds a number that neither the wish, the call nor its result does, or one of another row than the wish speaks
 * of.
 */
export function hasWrongNumber(answer: string, wish: string, message: ToolMessage): boolean {
  const { name, text, hasLines } = sourceOf(message);
  const values = Object.values(message.call.arguments);
  const given = values.filter((value) => typeof value === "string" || Number.isInteger(value)).map(String);
  const rows = hasLines ? rowsAbout(wish, text, name) : null;
  return inventsNumber(answer, [wish, ...given, ...(rows?.map(({ cells }) => cells.join(" ")) ?? [text])]);
}

/** Whether an answer is that of one of the prompt's own examples, which a small model gives when it has none. */
export function isEcho(answer: string, { result }: ToolMessage): boolean {
  return words.report.shots.some(({ reply }) => reply === answer) && !result.content.includes(answer);
}

/**
 * Whether an answer to a question about the person's own affairs has words that no few lines of the file bear out. Which file it was
 * read from is the loop's own guess; so it is for a further question (`isFurther`), which names no file itself.
 */
export function isUnfounded(answer: string, wish: string, message: ToolMessage, isFurther: boolean): boolean {
  const { name, text, hasLines } = sourceOf(message);
  // A file that tells how something is done is no record that it was.
  if (hasLines && COMPLETED.test(answer)) return true;
  return (isFurther || findingIn(wish)?.own === true) && hasLines && placeOf(answer, wish, text, name) === null;
}

/**
 * The line of a file that a question points at, or the `query` that found the file, quoted with its place, where an answer passes it
 * over; else null.
 */
export function missedQuote(answer: string, wish: string, message: ToolMessage, query = ""): string | null {
  const { name, text, hasLines } = sourceOf(message);
  const line = hasLines ? missedLine(answer, wish, text, name, query) : null;
  if (line === null) return null;
  return `${copy.quoted} ${cited(name, [line])}:\n\n${excerptOf(linesOf(text)[line - 1] as string).text}`;
}

/** The one line of a file that has a number of what is counted or measured, quoted: "4 eggs"; null for any other question. */
function statedIn(wish: string, { name, text, hasLines }: ResultSource): string | null {
  const said = wordsOf(wish).map(({ bare }) => bare);
  const [thing, ...others] = said.slice(1).filter((_, at) => said[at] === "many" || said[at] === "much");
  const hasColumns = (tableOf(text, name)?.columns.length ?? 0) > 0;
  if (thing === undefined || others.length > 0 || !hasLines || hasColumns) return null;
  const wanted = new Set(termsIn(thing));
  const lines = linesOf(text);
  const isIt = (line: string) => numbersIn(line).length === 1 && termsIn(line).some((term) => wanted.has(term));
  const [place, ...more] = lines.flatMap((line, at) => (isIt(line) ? [at + 1] : []));
  if (place === undefined || more.length > 0) return null;
  return `${copy.quoted} ${cited(name, [place])}:\n\n${excerptOf(lines[place - 1] as string).text}`;
}

/** The one line of a file that begins with what is asked for, quoted: "E021: the reading is old"; null for any other question. */
function definitionIn(wish: string, { name, text, hasLines }: ResultSource): string | null {
  const term = hasLines ? (DEFINED.exec(questionIn(wish))?.groups?.term ?? "") : "";
  if (term === "") return null;
  const begins = new RegExp(`^[ \\t]*(?:[-*+] )?[\`*]*${term}[\`*]*[ \\t]*(?::|=|-|–) *[^ ]`, "i");
  const lines = linesOf(text);
  const [place, ...more] = lines.flatMap((line, at) => (begins.test(line) ? [at + 1] : []));
  if (place === undefined || more.length > 0) return null;
  return `${copy.quoted} ${cited(name, [place])}:\n\n${excerptOf(lines[place - 1] as string).text}`;
}

/** A sentence, and below it the lines of a result that a question comes closest to. */
export function showClosest(sentence: string, wish: string, { name, text, hasLines }: ResultSource): string {
  const places = closestLines(text, wish, limits.closestLines);
  const lines = linesOf(text);
  if (hasLines) return `${sentence} ${cited(name, places)}:\n\n${numbered(lines, places)}`;
  return `${sentence} ${cited(name)}:\n\n${excerptOf(places.map((place) => lines[place - 1]).join("\n")).text}`;
}

/** Of a machine's figures those that the wish names, of a log the newest where it asks for them; else all. */
function askedLines(lines: readonly string[], wish: string): readonly string[] {
  const said = wordsOf(wish).map(({ bare }) => bare);
  const same = SAME.filter((group) => group.some((word) => said.includes(word)));
  const meant = new Set([...said, ...same.flat()]);
  const labelled = lines.filter((line) => {
    const [label] = wordsOf(line.replace(/:.*$/s, ""));
    return label !== undefined && meant.has(label.bare);
  });
  if (labelled.length > 0) return labelled;
  if (!said.some((word) => NEWEST.has(word))) return lines;
  const most = said.find((word) => /^[0-9]{1,3}$/.test(word) && Number(word) > 0);
  return lines.slice(0, Number(most ?? 1));
}
