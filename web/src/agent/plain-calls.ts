import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { fill } from "./fill.ts";
import type { ProposedCall } from "./lane.ts";
import { isObject } from "./parse.ts";
import { wordsOf } from "./words.ts";

/*
 * Wishes in so plain a form that the call they ask for stands in them: "move a.txt to old/", "how many files has old/?".
 *
 * A small model mixes up two paths, cannot count lines, and searches for the name of a folder that it should list. Only whole
 * wishes of these forms are read so, and only for tools with exactly these arguments; every other wish is the model's.
 */

type Tools = readonly Pick<ToolDescriptor, "name" | "paramSchema">[];

const PARTS: Readonly<Record<string, string>> = {
  polite: words.action.plainForms.polite,
  end: words.action.plainForms.end,
  thing: "(\"[^\"\\n]+\"|'[^'\\n]+'|`[^`\\n]+`|“[^”\\n]+”|[^ \\n\"'`“]+)",
  line: "([1-9][0-9]{0,6})",
};
const [MOVE, PLACE, TOP, MAKE, MAKE_PLACE, VIEW, EDIT, EDIT_IN, EDIT_FROM, WHOLE, LINES, COUNT, LIST, INSIDE, ACTS] = [
  patternOf(words.action.plainForms.move),
  patternOf(words.action.plainForms.place),
  patternOf(words.action.plainForms.top),
  patternOf(words.action.plainForms.make),
  patternOf(words.action.plainForms.makePlace),
  patternOf(words.action.plainForms.view),
  patternOf(words.action.plainForms.edit),
  patternOf(words.action.plainForms.editIn),
  patternOf(words.action.plainForms.editFrom),
  patternOf(words.action.plainForms.rewriting),
  patternOf(words.action.plainForms.lines),
  patternOf(words.action.plainForms.count),
  patternOf(words.action.plainForms.list),
  patternOf(words.action.plainForms.inside),
  patternOf(words.action.plainForms.acts),
];
const DROPS = [
  patternOf(words.action.plainForms.drop),
  patternOf(words.action.plainForms.discard),
  patternOf(words.action.plainForms.needless),
];
const ENDED = /[^/]\.[A-Za-z0-9]+/;

const GROUPS: Readonly<Record<string, readonly (readonly string[])[]>> = words.action.onlySaid;
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = words.action.argumentsOnlySaid;

/** The call that a plain wish asks for, where one of these tools takes it; null for any other wish. */
export function plainCall(wish: string, tools: Tools): ProposedCall | null {
  const said = wish.trim();
  const move = takes(tools, "move_file", ["path", "to"]) ? moveOf(said) : null;
  if (move !== null) return { name: "move_file", arguments: move };
  const made = takes(tools, "make_directory", ["path"]) ? madeOf(said) : "";
  if (made !== "") return { name: "make_directory", arguments: { path: made } };
  const edit = takes(tools, "edit_file", ["path", "old", "new"]) ? EDIT.exec(said) : null;
  if (edit !== null)
    return { name: "edit_file", arguments: { path: bare(edit[3]), old: bare(edit[1]), new: bare(edit[2]) } };
  const editIn = takes(tools, "edit_file", ["path", "old", "new"]) ? EDIT_IN.exec(said) : null;
  if (editIn !== null)
    return { name: "edit_file", arguments: { path: bare(editIn[1]), old: bare(editIn[2]), new: bare(editIn[3]) } };
  const editFrom = takes(tools, "edit_file", ["path", "old", "new"]) ? EDIT_FROM.exec(said) : null;
  if (editFrom !== null)
    return {
      name: "edit_file",
      arguments: { path: bare(editFrom[1]), old: bare(editFrom[2]), new: bare(editFrom[3]) },
    };
  const whole = takes(tools, "write_file", ["path", "content"]) ? WHOLE.exec(said) : null;
  if (whole !== null) return { name: "write_file", arguments: { path: bare(whole[1]), content: bare(whole[2]) } };
  const lines = takes(tools, "read_file", ["path", "first_line", "last_line"]) ? LINES.exec(said) : null;
  if (lines !== null) {
    const ends = [Number(lines[1]), Number(lines[2] ?? lines[1])];
    const [first_line, last_line] = [Math.min(...ends), Math.max(...ends)];
    return { name: "read_file", arguments: { path: bare(lines[3]), first_line, last_line } };
  }
  const dropped = takes(tools, "delete_file", ["path"]) ? DROPS.map((form) => form.exec(said)?.[1]) : [];
  const drop = bare(dropped.find((thing) => thing !== undefined));
  if (ENDED.test(drop)) return { name: "delete_file", arguments: { path: drop } };
  const view = viewOf(said);
  if (view !== null && takes(tools, view.name, ["path"])) return view;
  if (takes(tools, "read_audit", ["limit"]) && ACTS.test(said)) return { name: "read_audit", arguments: {} };
  if (!takes(tools, "list_directory", ["path"])) return null;
  const [counted, listed, held] = [COUNT, LIST, INSIDE].map((form) => bare(form.exec(said)?.[1])) as [
    string,
    string,
    string,
  ];
  // Any other folder a model tells by itself.
  const spaced = held.includes(" ") && held.endsWith("/") ? held : "";
  const folder = counted.endsWith("/") ? counted : listed.startsWith("-") ? "" : listed || spaced;
  return folder === "" ? null : { name: "list_directory", arguments: { path: folder } };
}

/** The look that a wish asks for, at a file by its ending or at a folder by its slash. */
function viewOf(said: string): ProposedCall | null {
  const path = bare(VIEW.exec(said)?.[1]);
  if (path.endsWith("/")) return { name: "list_directory", arguments: { path } };
  return ENDED.test(path) && !path.includes("://") ? { name: "read_file", arguments: { path } } : null;
}

/** The folder that a wish is to have made: called a folder, or told by the slash at its end; empty for any other wish. */
function madeOf(said: string): string {
  const place = bare(MAKE_PLACE.exec(said)?.[1]);
  const made = MAKE.exec(said)?.[1];
  if (made !== undefined) return bare(made);
  return place.endsWith("/") ? place : "";
}

/**
 * The tools as a small model is shown them: without those, and without those arguments, that are of use only where the wish has a
 * word for them. So the prompt of every other wish stays the one that was measured.
 */
export function saidTools<T extends Pick<ToolDescriptor, "name" | "paramSchema">>(
  wish: string,
  tools: readonly T[],
): T[] {
  const said = new Set(wordsOf(wish).map(({ bare: word }) => word));
  return tools
    .filter(({ name }) => (GROUPS[name] ?? []).every((group) => group.some((word) => said.has(word))))
    .map((tool) => {
      const groups = Object.entries(ARGUMENTS[tool.name] ?? {});
      const hidden = groups.flatMap(([name, group]) => (group.some((word) => said.has(word)) ? [] : [name]));
      return without(hidden, tool);
    });
}

function without<T extends Pick<ToolDescriptor, "paramSchema">>(names: readonly string[], tool: T): T {
  const { properties } = tool.paramSchema;
  if (!isObject(properties) || !names.some((name) => Object.hasOwn(properties, name))) return tool;
  const shown = Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)));
  return { ...tool, paramSchema: { ...tool.paramSchema, properties: shown } };
}

function patternOf(form: string): RegExp {
  return new RegExp(`^${fill(form, (name) => PARTS[name])}$`, "i");
}

function takes(tools: Tools, name: string, needed: readonly string[]): boolean {
  const properties = tools.find((tool) => tool.name === name)?.paramSchema.properties;
  return isObject(properties) && needed.every((each) => Object.hasOwn(properties, each));
}

/** The move that a wish asks for: up to the folder that holds all others, to a place, or into a folder. */
function moveOf(said: string): { path: string; to: string } | null {
  const top = bare(TOP.exec(said)?.[1]);
  if (ENDED.test(top)) return { path: top, to: "." };
  const move = MOVE.exec(said);
  const path = bare(move?.[2]);
  if (move !== null) return { path, to: targetOf(path, move) };
  const place = PLACE.exec(said);
  const [file, folder] = [bare(place?.[1]), bare(place?.[2])];
  return ENDED.test(file) && !ENDED.test(folder) ? { path: file, to: `${folder.replace(/\/+$/, "")}/` } : null;
}

/**
 * Where a file goes. A folder is told by its word, by "into", or by a name without an ending; a file that is renamed stays in its
 * folder.
 */
function targetOf(path: string, found: RegExpExecArray): string {
  const to = bare(found[5]);
  if (/^rename$/i.test(`${found[1]}`)) return to.includes("/") ? to : path.slice(0, path.lastIndexOf("/") + 1) + to;
  const isSaid = found[4] !== undefined || found[6] !== undefined;
  const isFolder = isSaid || /^(?:into|in)$/i.test(`${found[3]}`) || !ENDED.test(to);
  return isFolder && !to.endsWith("/") && to !== "." ? `${to}/` : to;
}

/** A thing without the quotes around it, or the stop after it. */
function bare(thing = ""): string {
  return /^"[^"]+"$|^'[^']+'$|^`[^`]+`$|^“[^”]+”$/.test(thing)
    ? thing.slice(1, -1)
    : thing.replace(/[,;:!?]+$/, "").replace(/(?<=.)\.$/, "");
}
