/** What a rule may name, as this gateway knows it. */
import { t } from "../../../../../language/t.ts";
export interface Vocabulary {
  /** Names of tools. */
  readonly tools: readonly string[];
  /** Values of the enumerated entities of the schema, such as `Profile` to `operator`. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly actions: readonly string[];
  /** Attributes by what stands before the point: `context`, `context.facts`, `principal`, `resource`. */
  readonly attributes: ReadonlyMap<string, readonly Attribute[]>;
}

/** `says` is its type, and its comment in the schema. */
export interface Attribute {
  readonly name: string;
  readonly says: string;
}

const ENUMERATED = /\bentity\s+(\w+)\s+enum\s*\[([^\]]*)\]/g;
const RECORD = /\b(?:entity|type)\s+(\w+)[^{};]*=\s*\{([^}]*)\}/g;
const ACTION = /\baction\s+([\w\s,]+?)\s*(?:in\s*\[[^\]]*\]\s*)?appliesTo\b/g;
const ATTRIBUTE = /"?(\w+)"?(\?)?\s*:\s*([\w<>]+)\s*,?[ \t]*(?:\/\/\s*(.*))?/g;
/** Which record of the shipped schema stands behind a word of a rule. */
const RECORDS = [
  ["principal", t`Principal`],
  ["resource", t`Tool`],
  ["context", t`Circumstances`],
  ["context.facts", t`Facts`],
] as const;

/** What the schema of the draft and the gateway's tools give to choose from. A schema that cannot be read gives less. */
export function readVocabulary(schema: string, tools: readonly string[]): Vocabulary {
  const values = new Map([...schema.matchAll(ENUMERATED)].map(([, name = "", inside = ""]) => [name, quoted(inside)]));
  const records = new Map(
    [...schema.matchAll(RECORD)].map(([, name = "", inside = ""]) => [name, attributesOf(inside)]),
  );
  const actions = [...schema.matchAll(ACTION)].flatMap(([, names = ""]) => names.split(",").map((name) => name.trim()));
  return {
    tools,
    values,
    actions,
    attributes: new Map(RECORDS.map(([word, record]) => [word, records.get(record) ?? []])),
  };
}

function quoted(inside: string): readonly string[] {
  return [...inside.matchAll(/"([^"]*)"/g)].map(([, value = ""]) => value);
}

function attributesOf(inside: string): readonly Attribute[] {
  return [...inside.matchAll(ATTRIBUTE)].map(([, name = "", optional, type = "", comment]) => {
    const kind = optional === undefined ? type : t`${type}, may be absent`;
    return { name, says: comment === undefined ? kind : `${kind}: ${comment}` };
  });
}
