import { t } from "../../../language/t.ts";
import type { NewSource } from "../../../protocol/generated.ts";

/** What kinds of sources the form offers; a program and an address are both MCP servers. */
export type DraftForm = "program" | "address" | "api" | "database";

export const FORMS: readonly (readonly [DraftForm, string])[] = [
  ["program", t`MCP server: a program on this machine`],
  ["address", t`MCP server: an address`],
  ["api", t`HTTP API: an OpenAPI document`],
  ["database", t`Database`],
];

/** Everything that is typed into the form, whatever form is open. Lists have one entry on each line. */
export interface Draft {
  readonly form: DraftForm;
  readonly name: string;
  readonly command: string;
  readonly args: string;
  readonly env: string;
  readonly folders: string;
  readonly writable: string;
  readonly network: boolean;
  /** Whether the server may ask the person something during a call. */
  readonly asks: boolean;
  readonly url: string;
  readonly headers: string;
  readonly baseUrl: string;
  readonly documentFrom: "file" | "url" | "text";
  readonly documentPlace: string;
  readonly documentText: string;
  readonly allowPrivate: boolean;
  readonly database: string;
  readonly role: "query" | "change";
  readonly label: string;
}

export const EMPTY_DRAFT: Draft = {
  form: "program",
  name: "",
  command: "",
  args: "",
  env: "",
  folders: "",
  writable: "",
  network: false,
  asks: false,
  url: "",
  headers: "",
  baseUrl: "",
  documentFrom: "file",
  documentPlace: "",
  documentText: "",
  allowPrivate: false,
  database: "",
  role: "query",
  label: "",
};

export const LABELS: readonly (readonly [string, string])[] = [
  ["", t`none`],
  ["label:internal", t`internal`],
  ["label:confidential", t`confidential`],
  ["label:high", t`high`],
];

/** What the gateway takes in one message, less what stands around the document. */
const LONGEST_DOCUMENT = 180_000;

/** A line of the form that cannot be sent as it is. `field` is the member of the draft that it stands in. */
export interface DraftFault {
  readonly field: keyof Draft;
  readonly message: string;
}

/** The source that a draft describes, or what is wrong with it. What the settings mean is for the gateway to check. */
export function readDraft(draft: Draft): NewSource | DraftFault {
  const fault = findFault(draft);
  if (fault !== undefined) return fault;
  const labels = draft.label === "" ? {} : { labels: [draft.label] };
  const made = (kind: NewSource["kind"], settings: NewSource["settings"]): NewSource => ({
    name: draft.name.trim(),
    kind,
    settings: { ...settings, ...labels },
  });
  switch (draft.form) {
    case "program":
      return made("mcp", {
        command: draft.command.trim(),
        ...filled("args", readSettingLines(draft.args)),
        ...filled("env", readPairs(draft.env, "=")),
        ...filled("folders", readSettingLines(draft.folders)),
        ...filled("writable", readSettingLines(draft.writable)),
        ...(draft.network && { network: true }),
        ...(draft.asks && { elicitation: "ask" }),
      });
    case "address":
      return made("mcp", {
        url: draft.url.trim(),
        ...filled("headers", readPairs(draft.headers, ":")),
        ...(draft.allowPrivate && { allow_private: true }),
        ...(draft.asks && { elicitation: "ask" }),
      });
    case "api":
      return made("http", {
        base_url: draft.baseUrl.trim(),
        ...documentOf(draft),
        ...filled("headers", readPairs(draft.headers, ":")),
        ...(draft.allowPrivate && { allow_private: true }),
      });
    case "database":
      return made("sql", { url: draft.database.trim(), role: draft.role });
  }
}

export function isFault(read: object | DraftFault): read is DraftFault {
  return "field" in read;
}

function findFault(draft: Draft): DraftFault | undefined {
  const wrongPair = (text: string, separator: string) =>
    readSettingLines(text).find(
      (line) => line.indexOf(separator) < 1 || line.slice(0, line.indexOf(separator)).trim() === "",
    );
  const tells = draft.form === "address" || draft.form === "api";
  if (draft.form === "program" && wrongPair(draft.env, "=") !== undefined) {
    return {
      field: "env",
      message: t`Write NAME=value on each line; “${wrongPair(draft.env, "=") ?? ""}” is not that.`,
    };
  }
  if (tells && wrongPair(draft.headers, ":") !== undefined) {
    return {
      field: "headers",
      message: t`Write Name: value on each line; “${wrongPair(draft.headers, ":") ?? ""}” is not that.`,
    };
  }
  if (draft.form === "api" && draft.documentFrom === "text" && draft.documentText.length > LONGEST_DOCUMENT) {
    return {
      field: "documentText",
      message: t`It is too long to be sent. Store it as a file on the gateway's machine and name that.`,
    };
  }
  return undefined;
}

function documentOf({ documentFrom, documentPlace, documentText }: Draft): NewSource["settings"] {
  switch (documentFrom) {
    case "file":
      return documentPlace.trim() === "" ? {} : { document_file: documentPlace.trim() };
    case "url":
      return documentPlace.trim() === "" ? {} : { document_url: documentPlace.trim() };
    case "text":
      return documentText.trim() === "" ? {} : { document: documentText };
  }
}

function filled(name: string, value: readonly string[] | Readonly<Record<string, string>>): NewSource["settings"] {
  return Object.keys(value).length === 0 ? {} : { [name]: value };
}

/** The entries of a list. A line is taken as it is but for its end: an argument may begin with a space. */
export function readSettingLines(text: string): string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.replace(/\r$/, "")]));
}

/** Names and their values; what stands around the separator of a header is not part of either. */
export function readPairs(text: string, separator: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readSettingLines(text).map((line) => {
      const at = line.indexOf(separator);
      const value = line.slice(at + 1);
      return [line.slice(0, at).trim(), separator === ":" ? value.trim() : value];
    }),
  );
}
