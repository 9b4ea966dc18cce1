import type { ToolDescriptor } from "../protocol/generated.ts";
import { askedActs, bareThing, isThing } from "./acts.ts";
import { exclusionIn } from "./exclusions.ts";
import { listedPaths } from "./found.ts";
import { hasCue } from "./intents.ts";
import type { ProposedCall } from "./lane.ts";
import { linesOfLevel } from "./log-levels.ts";
import type { ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";
import { asksAboutContent, asksForWhole } from "./questions.ts";
import { whenIn } from "./timed.ts";
import { vocabulary } from "./vocabulary.ts";
import { isSpacedName, wordsOf } from "./words.ts";

/** A name of digits with an ending: "invoices/1042.txt". */
const NUMBERED = /(?:^|\/)[0-9][0-9.]*\.[A-Za-z]\w*$/;

/** As much of a tool as tells whether it reads a file. */
export type ReadingTool = Pick<ToolDescriptor, "name" | "category" | "paramSchema">;

const TOLD: ReadonlySet<string> = new Set(vocabulary.contentVerbs);
/** Files without an ending, known by their spelling. */
const BARE: ReadonlySet<string> = new Set(vocabulary.bareFiles);

/**
 * The call that a question about one file by its name needs, where one tool can make it; null for any other wish. Asked to
 * choose, a small model mostly searches for the file's name, or answers out of its head.
 */
export function readingFor(wish: string, tools: readonly ReadingTool[]): ProposedCall | null {
  const written = wordsOf(wish).map(({ start, end }) => wish.slice(start, end));
  const things = new Set(written.filter(isThing).map(bareThing));
  const [file, ...others] = things.size > 0 ? things : new Set(written.map(bareThing).filter((name) => BARE.has(name)));
  if (file === undefined || others.length > 0 || !isFile(file)) return null;
  const named = askedActs(wish).flatMap((each) => (each.things.includes(file) ? [each.act] : []));
  // To a name with spaces, or of digits, which no example has, a small model says that there is no such file.
  const isShown = named.includes("read") && (isSpacedName(file) || NUMBERED.test(file));
  const isForRows = exclusionIn(wish) !== null || whenIn(wish) !== null || linesOfLevel(wish) !== null;
  if (!isShown && !isForRows && !asksAboutContent(wish) && !asksForWhole(wish)) return null;
  // It is where something goes, or what is taken away.
  if (named.some((act) => act !== "read")) return null;
  if (isForRows && askedActs(wish).some(({ act }) => act !== "read")) return null;
  return read(file, tools);
}

/**
 * The call that reads the one file that a wish names behind a verb for reading, and nothing else; null for any other wish. A small
 * model that was asked for one file says of the next that it does not know it.
 */
export function orderedReading(wish: string, tools: readonly ReadingTool[]): ProposedCall | null {
  const [asked, ...more] = askedActs(wish);
  const [file, ...others] = asked?.act === "read" && more.length === 0 ? asked.things : [];
  const named = wordsOf(wish).filter(({ start, end }) => isThing(wish.slice(start, end)));
  const isOne = file !== undefined && others.length === 0 && named.length === 1 && isFile(file);
  return isOne ? read(file, tools) : null;
}

/**
 * The call that reads the one file that the last call found, where the wish asks for something out of it; else null. Shown the
 * line that a search found, a small model takes it for the whole file. A wish for the place alone is answered by it.
 */
export function readingOfFound(
  wish: string,
  closed: readonly ToolMessage[],
  tools: readonly ReadingTool[],
): ProposedCall | null {
  const last = closed.at(-1);
  const isSearch = last !== undefined && Object.keys(last.call.arguments).some((name) => slotOf(name) === "query");
  const isOpening = askedActs(wish).some(({ verb }) => verb === "open" || verb === "read");
  if (last === undefined || !(isSearch || isOpening)) return null;
  const [file, ...others] = listedPaths([last], tools).filter((each) => !each.endsWith("/"));
  if (file === undefined || others.length > 0 || !asksAboutContent(wish) || asksForPlace(wish)) return null;
  const reading = read(file, tools);
  const wanted = JSON.stringify(reading?.arguments);
  return closed.some(({ call }) => JSON.stringify(call.arguments) === wanted) ? null : reading;
}

/**
 * The file that the last call read, where a wish asks for a part of what it says: "what does it say about insurance?". What a small
 * model remembers of it is no answer.
 */
export function filesRead(
  wish: string,
  { call, result }: ToolMessage,
  reader: { readonly name: string; readonly path: string },
): string[] {
  const isTold = wordsOf(wish).some(({ bare }) => TOLD.has(bare)) && asksAboutContent(wish);
  const isRead = call.name === reader.name && result.outcome === "ok";
  return isTold && isRead ? [String(call.arguments[reader.path])] : [];
}

/** Whether it is answered by naming a file: "where is Ana mentioned?", "which note is about the boat?". */
function asksForPlace(wish: string): boolean {
  const [first] = wordsOf(wish);
  return first !== undefined && vocabulary.placeQuestions.includes(first.bare) && !hasCue(wish);
}

/** The call that reads a file, where one tool can make it. */
function read(file: string, tools: readonly ReadingTool[]): ProposedCall | null {
  const reader = readerAmong(tools);
  return reader === null ? null : { name: reader.name, arguments: { [reader.path]: file } };
}

/** The one tool that reads a file, and the argument that is its path. Of two it is not clear which is meant. */
export function readerAmong(tools: readonly ReadingTool[]): { readonly name: string; readonly path: string } | null {
  const [reader, ...more] = tools.flatMap((tool) => {
    const path = pathOf(tool);
    return path === null ? [] : [{ name: tool.name, path }];
  });
  return reader === undefined || more.length > 0 ? null : reader;
}

/** The one argument that a reading tool needs, where that is a path. */
function pathOf({ name, category, paramSchema }: ReadingTool): string | null {
  const required: unknown[] = Array.isArray(paramSchema.required) ? paramSchema.required : [];
  const [path] = required;
  const isReading = category === "read" && partsOf(name).includes("read") && required.length === 1;
  return isReading && typeof path === "string" && slotOf(path) === "path" ? path : null;
}

/** Whether the name of a thing can be that of a file. */
export function isFile(name: string): boolean {
  return !(name.endsWith("/") || name.includes("@") || name.includes("://"));
}

/** Whether a line of a search is a file's name and nothing else. */
export function isPath(line: string): boolean {
  return isSpacedName(line) || (isThing(line) && !line.includes(" "));
}
