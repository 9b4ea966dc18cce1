import type { Source, SourceChange } from "../../../protocol/generated.ts";
import {
  type Draft,
  type DraftFault,
  type DraftForm,
  EMPTY_DRAFT,
  isFault,
  LABELS,
  readDraft,
  readPairs,
  readSettingLines,
} from "./draft.ts";

/** The form of a source as it is now. A document that was pasted is not in it: the page is told only its beginning. */
export function draftFromSource({ name, kind, settings }: Source): Draft {
  const { command, args, folders, writable, labels, headers, env } = settings;
  const words = [...listOf(command), ...listOf(args)];
  const [file, url] = [textOf(settings.document_file), textOf(settings.document_url)];
  return {
    ...EMPTY_DRAFT,
    form: formOf(kind, words),
    name,
    command: words[0] ?? "",
    args: words.slice(1).join("\n"),
    env: linesOf(env, "="),
    folders: listOf(folders).join("\n"),
    writable: listOf(writable).join("\n"),
    network: settings.network === true,
    asks: settings.elicitation === "ask",
    url: kind === "mcp" ? textOf(settings.url) : "",
    headers: linesOf(headers, ": "),
    baseUrl: textOf(settings.base_url),
    documentFrom: hasPastedDocument({ settings }) ? "text" : url === "" ? "file" : "url",
    documentPlace: file || url,
    allowPrivate: settings.allow_private === true,
    database: kind === "sql" ? textOf(settings.url) : "",
    role: settings.role === "change" ? "change" : "query",
    label: listOf(labels).join(", "),
  };
}

/**
 * The fields that show what no field of their kind can say, such as an empty argument or a variable of several lines, or not
 * all of it. They can only be read, and what they show stays as it is.
 */
export function keptFields(source: Source): ReadonlySet<keyof Draft> {
  const { kind, settings, shortened } = source;
  const draft = draftFromSource(source);
  const words = [...itemsOf(settings.command), ...itemsOf(settings.args)];
  const kept = new Set<keyof Draft>();
  const compare = (fields: readonly (keyof Draft)[], names: readonly string[], stored: unknown, read: unknown) => {
    if (isSame(stored, read) && !names.some((name) => shortened.includes(name))) return;
    for (const field of fields) kept.add(field);
  };
  const compareText = (field: "url" | "baseUrl" | "database", name: string) =>
    compare([field], [name], settings[name] ?? "", draft[field].trim());
  if (words.length > 0)
    compare(["command", "args"], COMMAND, words, [draft.command.trim(), ...readSettingLines(draft.args)]);
  compare(["env"], ["env"], settings.env ?? {}, readPairs(draft.env, "="));
  compare(["headers"], ["headers"], settings.headers ?? {}, readPairs(draft.headers, ":"));
  compare(["folders"], ["folders"], itemsOf(settings.folders), readSettingLines(draft.folders));
  compare(["writable"], ["writable"], itemsOf(settings.writable), readSettingLines(draft.writable));
  const label = LABELS.some(([value]) => value === draft.label) ? draft.label : undefined;
  compare(["label"], ["labels"], itemsOf(settings.labels).join(), label);
  const place = settings.document_file ?? settings.document_url ?? "";
  compare(["documentPlace"], ["document_file", "document_url"], place, draft.documentPlace.trim());
  if (kind === "mcp") compareText("url", "url");
  if (kind === "http") compareText("baseUrl", "base_url");
  if (kind === "sql") compareText("database", "url");
  return kept;
}

/** Whether the calls of an API are read from a text that was pasted. */
export function hasPastedDocument({ settings }: Pick<Source, "settings">): boolean {
  return settings.document !== undefined;
}

/** The settings of a program that say together what is started. */
const COMMAND = ["command", "args"];

/**
 * What a changed form asks of the gateway, or what is wrong with it. Only what is other than in the form of the source is
 * named: what no field shows, and what the page was shown cut, stays as it is.
 */
export function readChange(source: Source, draft: Draft): SourceChange | DraftFault {
  const kept = Object.fromEntries([...keptFields(source)].map((field) => [field, EMPTY_DRAFT[field]]));
  const [before, after] = [readDraft({ ...draftFromSource(source), ...kept }), readDraft({ ...draft, ...kept })];
  if (isFault(after)) return after;
  const old = isFault(before) ? source.settings : before.settings;
  const names = Object.keys({ ...old, ...after.settings });
  const changed = new Set(names.filter((name) => !isSame(old[name], after.settings[name])));
  if (COMMAND.some((name) => changed.has(name))) for (const name of COMMAND) changed.add(name);
  if (changed.has("document_file") || changed.has("document_url")) changed.add("document");
  return {
    name: source.name,
    settingsDigest: source.settingsDigest,
    settings: Object.fromEntries([...changed].flatMap((name) => named(name, after.settings[name]))),
    without: [...changed].filter((name) => after.settings[name] === undefined && source.settings[name] !== undefined),
  };
}

function named(name: string, value: unknown): [string, unknown][] {
  return value === undefined ? [] : [[name, value]];
}

function formOf(kind: Source["kind"], words: readonly string[]): DraftForm {
  if (kind === "http") return "api";
  if (kind === "sql") return "database";
  return words.length > 0 ? "program" : "address";
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function itemsOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function listOf(value: unknown): readonly string[] {
  return itemsOf(value).filter((each): each is string => typeof each === "string");
}

function linesOf(value: unknown, separator: string): string {
  const pairs = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return pairs.map(([name, text]) => `${name}${separator}${text}`).join("\n");
}
