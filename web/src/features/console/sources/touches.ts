import { t } from "../../../language/t.ts";
import type { Source } from "../../../protocol/generated.ts";

/** One thing that a source may do or reach: a heading, a sentence of this page, and what the settings name. */
export interface Touch {
  readonly name: string;
  readonly says?: string | undefined;
  /** As written in the settings; shown character by character. */
  readonly values: readonly string[];
}

/** What says what a source may touch. */
export type SettingsOfSource = Pick<Source, "kind" | "settings">;

/** What a source may touch, in words, from its settings. */
export function describeTouches({ kind, settings }: SettingsOfSource): readonly Touch[] {
  const secrets = secretsIn(settings);
  const common: Touch[] = [
    {
      name: t`Secrets`,
      says: secrets.length === 0 ? t`It is given no stored secret.` : t`It is given the stored secrets:`,
      values: secrets,
    },
    ...listed(t`Labels`, t`Whatever it answers is labelled:`, texts(settings.labels)),
  ];
  switch (kind) {
    case "mcp":
      return [
        ...(texts(settings.command).length > 0 ? describeProgram(settings) : describeAddress(settings)),
        {
          name: t`Questions`,
          says:
            settings.elicitation === "ask" ? t`It may ask you for details during a call.` : t`It may ask you nothing.`,
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
      name: t`Program`,
      says: t`It is started on the gateway's machine, shut in, with these words:`,
      values: [...texts(settings.command), ...texts(settings.args)],
    },
    {
      name: t`May read`,
      says: folders.length === 0 ? t`No folder of yours.` : undefined,
      values: folders,
    },
    {
      name: t`May change`,
      says: writable.length === 0 ? t`Only a folder of its own.` : t`A folder of its own, and:`,
      values: writable,
    },
    {
      name: t`Network`,
      says: settings.network === true ? t`It may reach any address.` : t`None.`,
      values: [],
    },
    ...listed(t`Variables`, t`It is started with these variables set:`, variables),
  ];
}

function describeAddress(settings: Settings): readonly Touch[] {
  return [
    { name: t`Address`, says: t`Calls and their arguments are sent to:`, values: texts(settings.url) },
    ...said(t`Private addresses`, settings.allow_private === true, t`Its host may be a machine of a private network.`),
    ...listed(t`Headers`, t`Each request carries these headers:`, Object.keys(members(settings.headers))),
  ];
}

function describeApi(settings: Settings): readonly Touch[] {
  const operations = texts(settings.operations);
  const described = [...texts(settings.document_file), ...texts(settings.document_url)];
  return [
    {
      name: t`Address`,
      says: t`Requests are sent beneath this address and nowhere else:`,
      values: texts(settings.base_url),
    },
    ...said(t`Private addresses`, settings.allow_private === true, t`Its host may be a machine of a private network.`),
    ...said(t`Encryption`, settings.allow_plain_http === true, t`Requests may be sent without encryption.`),
    ...listed(t`Headers`, t`Each request carries these headers:`, Object.keys(members(settings.headers))),
    ...listed(t`Description`, t`Its calls are read from:`, described),
    ...said(
      t`Description`,
      typeof settings.document === "string",
      t`Its calls are read from a document that was pasted.`,
    ),
    ...listed(t`Calls`, t`Only these of the document:`, operations),
  ];
}

function describeDatabase(settings: Settings): readonly Touch[] {
  const tables = Object.keys(members(settings.tables));
  return [
    { name: t`Database`, says: undefined, values: texts(settings.url) },
    {
      name: t`Role`,
      says: settings.role === "change" ? t`It may read and change rows.` : t`It may only read.`,
      values: [],
    },
    {
      name: t`Tables`,
      says: tables.length === 0 ? t`Everything that the database lets it see.` : t`Only these:`,
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
