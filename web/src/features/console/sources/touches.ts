import type { Source } from "../../../protocol/generated.ts";

/** One thing that a source may do or reach: a heading, a sentence of this page, and what the settings name. */
export interface Touch {
  readonly name: string;
  readonly says?: string | undefined;
  /** As written in the settings; shown character by character. */
  readonly values: readonly string[];
}

/** What a source may touch, in words, from its settings. */
export function describeTouches({ kind, settings }: Source): readonly Touch[] {
  const secrets = secretsIn(settings);
  const common: Touch[] = [
    {
      name: "Secrets",
      says: secrets.length === 0 ? "It is given no stored secret." : "It is given the stored secrets:",
      values: secrets,
    },
    ...listed("Labels", "Whatever it answers is labelled:", texts(settings.labels)),
  ];
  switch (kind) {
    case "mcp":
      return [
        ...(texts(settings.command).length > 0 ? describeProgram(settings) : describeAddress(settings)),
        {
          name: "Questions",
          says:
            settings.elicitation === "ask" ? "It may ask you for details during a call." : "It may ask you nothing.",
          values: [],
        },
        ...common,
      ];
    case "http":
      return [...describeApi(settings), ...common];
    case "sql":
      return [...describeDatabase(settings), ...common];
  }
}

/** The secrets that any text of the settings names, by name. */
export function secretsIn(value: unknown): readonly string[] {
  const found = new Set<string>();
  const look = (inner: unknown) => {
    if (typeof inner === "string") for (const [, name = ""] of inner.matchAll(/\$\{secret:([^}]*)\}/g)) found.add(name);
    else if (typeof inner === "object" && inner !== null) for (const each of Object.values(inner)) look(each);
  };
  look(value);
  return [...found].sort();
}

type Settings = Source["settings"];

function describeProgram(settings: Settings): readonly Touch[] {
  const writable = texts(settings.writable);
  const folders = texts(settings.folders).filter((folder) => !writable.includes(folder));
  const variables = Object.keys(members(settings.env));
  return [
    {
      name: "Program",
      says: "It is started on the gateway's machine, shut in, with these words:",
      values: [...texts(settings.command), ...texts(settings.args)],
    },
    {
      name: "May read",
      says: folders.length === 0 ? "No folder of yours." : undefined,
      values: folders,
    },
    {
      name: "May change",
      says: writable.length === 0 ? "Only a folder of its own." : "A folder of its own, and:",
      values: writable,
    },
    {
      name: "Network",
      says: settings.network === true ? "It may reach any address." : "None.",
      values: [],
    },
    ...listed("Variables", "It is started with these variables set:", variables),
  ];
}

function describeAddress(settings: Settings): readonly Touch[] {
  return [
    { name: "Address", says: "Calls and their arguments are sent to:", values: texts(settings.url) },
    ...listed("Headers", "Each request carries these headers:", Object.keys(members(settings.headers))),
  ];
}

function describeApi(settings: Settings): readonly Touch[] {
  const operations = texts(settings.operations);
  const described = [...texts(settings.document_file), ...texts(settings.document_url)];
  return [
    {
      name: "Address",
      says: "Requests are sent beneath this address and nowhere else:",
      values: texts(settings.base_url),
    },
    ...said("Private addresses", settings.allow_private === true, "Its host may be a machine of a private network."),
    ...said("Encryption", settings.allow_plain_http === true, "Requests may be sent without encryption."),
    ...listed("Headers", "Each request carries these headers:", Object.keys(members(settings.headers))),
    ...listed("Description", "Its calls are read from:", described),
    ...said(
      "Description",
      typeof settings.document === "string",
      "Its calls are read from a document that was pasted.",
    ),
    ...listed("Calls", "Only these of the document:", operations),
  ];
}

function describeDatabase(settings: Settings): readonly Touch[] {
  const tables = Object.keys(members(settings.tables));
  return [
    { name: "Database", says: undefined, values: texts(settings.url) },
    {
      name: "Role",
      says: settings.role === "change" ? "It may read and change rows." : "It may only read.",
      values: [],
    },
    {
      name: "Tables",
      says: tables.length === 0 ? "Everything that the database lets it see." : "Only these:",
      values: tables,
    },
  ];
}

function listed(name: string, says: string, values: readonly string[]): readonly Touch[] {
  return values.length === 0 ? [] : [{ name, says, values }];
}

function said(name: string, holds: boolean, says: string): readonly Touch[] {
  return holds ? [{ name, says, values: [] }] : [];
}

function texts(value: unknown): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((each): each is string => typeof each === "string" && each !== "");
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
