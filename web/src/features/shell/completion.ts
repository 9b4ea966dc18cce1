import { type CommandInfo, suggestCommands } from "../../agent/slash.ts";
import { t } from "../../language/t.ts";
import type { ModelInfo, ToolDescriptor } from "../../protocol/generated.ts";
import { describeCommand } from "./command-words.ts";
import { describeModel } from "./model-words.ts";

/** What the text before the caret could be completed with, and from where on. */
export type Wanted =
  | { readonly kind: "command"; readonly commands: readonly CommandInfo[] }
  | { readonly kind: "tool"; readonly command: "inspect" | "call"; readonly start: string; readonly from: number }
  | { readonly kind: "model"; readonly start: string; readonly from: number }
  | { readonly kind: "path"; readonly folder: string; readonly start: string; readonly from: number };

/** One thing that may be chosen. `insert` takes the place of the text from `from` to the caret. */
export interface Suggestion {
  readonly key: string;
  readonly label: string;
  readonly what: string;
  readonly from: number;
  readonly insert: string;
  /** Words of this page, which need no look-alike pointed out. */
  readonly own: boolean;
  /** A folder: what is in it is suggested next. */
  readonly goesOn: boolean;
  /** The tool whose arguments are filled in next. */
  readonly tool: ToolDescriptor | null;
}

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** As many as a person looks through before typing on. */
export const MOST_SUGGESTED = 12;

/** A shorter beginning of a name says too little to look for it further down. */
export const LEAST_LOOKED_FOR = 2;

/** A name that holds what cannot be seen, or a line end, is not put into a person's words. */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}"]/u;

export function wantedAt(text: string, caret: number): Wanted | null {
  const before = text.slice(0, caret);
  const commands = caret === text.length ? suggestCommands(text) : [];
  if (commands.length > 0) return { kind: "command", commands };
  const [, command, start] = /^\/(inspect|call)\s+(\w*)$/.exec(before) ?? [];
  if (start !== undefined && (command === "inspect" || command === "call"))
    return { kind: "tool", command, start, from: before.length - start.length };
  const [, model] = /^\/model\s+(.*)$/.exec(before) ?? [];
  if (model !== undefined) return { kind: "model", start: model, from: before.length - model.length };
  const [, path] = /(?:^|\s)@([^\s@]*)$/.exec(before) ?? [];
  if (path === undefined || before.startsWith("/")) return null;
  const cut = path.lastIndexOf("/") + 1;
  const folder = path.slice(0, Math.max(cut - 1, 0));
  return { kind: "path", folder: folder || ".", start: path.slice(cut), from: before.length - path.length - 1 };
}

export function suggestCommand({ commands }: Extract<Wanted, { kind: "command" }>): Suggestion[] {
  return commands.map(({ word, usage }) => ({
    key: word,
    label: usage,
    what: describeCommand({ word, usage }),
    from: 0,
    insert: `/${word}${word === "inspect" || word === "call" ? " " : ""}`,
    own: true,
    goesOn: word === "inspect" || word === "call",
    tool: null,
  }));
}

/** Tools whose name holds what was typed; those that begin with it come first. */
export function suggestTools(
  { command, start, from }: Extract<Wanted, { kind: "tool" }>,
  tools: readonly ToolDescriptor[],
): Suggestion[] {
  return bestOf(tools, start, ({ name }) => name).map((tool) => ({
    key: tool.name,
    label: tool.name,
    what: tool.title ?? firstSentence(tool.description),
    from,
    insert: command === "call" ? `${tool.name} ` : tool.name,
    own: false,
    goesOn: false,
    tool: command === "call" ? tool : null,
  }));
}

/** Models whose name holds what was typed. One whose name another has is meant by its id. */
export function suggestModels(
  { start, from }: Extract<Wanted, { kind: "model" }>,
  models: readonly ModelInfo[],
): Suggestion[] {
  const isAlone = (name: string) => models.filter(({ displayName }) => displayName === name).length === 1;
  return bestOf(models, start, ({ displayName }) => displayName).map((model) => ({
    key: model.id,
    label: model.displayName,
    what: describeModel(model),
    from,
    insert: isAlone(model.displayName) ? model.displayName : model.id,
    own: false,
    goesOn: false,
    tool: null,
  }));
}

/** What is in the folder under such a name. A file takes the place of the whole `@…`, as a path in the person's own words. */
export function suggestPaths(
  { folder, start, from }: Extract<Wanted, { kind: "path" }>,
  entries: readonly FolderEntry[],
): Suggestion[] {
  const inside = folder === "." ? "" : `${folder}/`;
  const shown = entries.filter(({ name }) => !UNSEEN.test(name) && (start.startsWith(".") || !name.startsWith(".")));
  return bestOf(shown, start, ({ name }) => name).map(({ name, isFolder }) => {
    const path = `${inside}${name}`;
    return {
      key: path,
      label: isFolder ? `${name}/` : name,
      what: isFolder ? t`Folder` : "",
      from,
      insert: isFolder ? `@${path}/` : `${/\s/.test(path) ? `"${path}"` : path} `,
      own: false,
      goesOn: isFolder,
      tool: null,
    };
  });
}

function bestOf<T>(all: readonly T[], start: string, nameOf: (each: T) => string): readonly T[] {
  const wanted = start.toLowerCase();
  const begins = (each: T) => nameOf(each).toLowerCase().startsWith(wanted);
  const holds = all.filter((each) => nameOf(each).toLowerCase().includes(wanted));
  return [...holds.filter(begins), ...holds.filter((each) => !begins(each))].slice(0, MOST_SUGGESTED);
}

function firstSentence(description: string): string {
  return description.split(/(?<=[.!?])\s/, 1)[0] ?? "";
}
