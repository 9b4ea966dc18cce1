import { isObject } from "../../agent/parse.ts";
import { t } from "../../language/t.ts";

export type ArgumentKind = "line" | "text" | "number" | "integer" | "choice" | "yesNo" | "json";

/** One argument of a tool as a form asks for it. */
export interface SchemaField {
  readonly name: string;
  readonly kind: ArgumentKind;
  readonly required: boolean;
  readonly hint: string;
  /** Of a choice: its values, as JSON and as words. */
  readonly options: readonly (readonly [string, string])[];
  readonly schema: Schema;
}

export type ArgumentTexts = Readonly<Record<string, string>>;

/** What a form holds: arguments that may be sent, or what is wrong at which field. */
export type ArgumentReading =
  | { readonly kind: "arguments"; readonly given: Record<string, unknown> }
  | { readonly kind: "errors"; readonly errors: Readonly<Record<string, string>> };

type Schema = Readonly<Record<string, unknown>>;

/** Arguments whose text is written on several lines. */
const LONG = /content|text|body|message|query|code|old|new|note/i;

/** The fields of a tool's arguments: the required ones first, in the order that the schema requires them in. */
export function fieldsOf(paramSchema: Schema): SchemaField[] {
  const properties = isObject(paramSchema.properties) ? paramSchema.properties : {};
  // The members of an object come in canonical order from a snapshot; those of a list keep the author's.
  const required: readonly unknown[] = Array.isArray(paramSchema.required) ? paramSchema.required : [];
  const names = Object.keys(properties);
  const ordered = [
    ...required.filter((name): name is string => typeof name === "string" && Object.hasOwn(properties, name)),
    ...names.filter((name) => !required.includes(name)),
  ];
  return ordered.map((name) => fieldOf(name, required.includes(name), resolve(properties[name], paramSchema)));
}

function fieldOf(name: string, required: boolean, schema: Schema): SchemaField {
  const choices = Array.isArray(schema.enum) ? schema.enum : null;
  const description = typeof schema.description === "string" ? schema.description : "";
  const usual = schema.default === undefined ? "" : wordsOf(schema.default);
  return {
    name,
    kind: choices !== null ? "choice" : kindOf(name, schema.type),
    required,
    hint: [description, boundsOf(schema), usual !== "" && t`Left empty: ${usual}`].filter(Boolean).join(". "),
    options: choices?.map((value) => [JSON.stringify(value), wordsOf(value)] as const) ?? [],
    schema,
  };
}

function kindOf(name: string, type: unknown): ArgumentKind {
  switch (type) {
    case "string":
      return LONG.test(name) ? "text" : "line";
    case "integer":
    case "number":
      return type;
    case "boolean":
      return "yesNo";
    default:
      return "json";
  }
}

/** What a schema refers to, and what it allows beside `null`. */
function resolve(schema: unknown, root: Schema): Schema {
  if (!isObject(schema)) return {};
  const reference = typeof schema.$ref === "string" ? /^#\/\$defs\/([^/]+)$/.exec(schema.$ref)?.[1] : undefined;
  const definitions = isObject(root.$defs) ? root.$defs : {};
  if (reference !== undefined && isObject(definitions[reference])) return { ...definitions[reference], ...schema };
  const either = Array.isArray(schema.anyOf) ? schema.anyOf.filter((each) => isObject(each)) : [];
  const [only, ...others] = either.filter((each) => each.type !== "null");
  return only !== undefined && others.length === 0 ? { ...only, ...schema } : schema;
}

function boundsOf({ minimum, maximum }: Schema): string {
  if (typeof minimum === "number" && typeof maximum === "number") return t`From ${minimum} to ${maximum}`;
  if (typeof minimum === "number") return t`At least ${minimum}`;
  return typeof maximum === "number" ? t`At most ${maximum}` : "";
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value === "" ? t`nothing` : value;
  if (typeof value === "boolean") return value ? t`yes` : t`no`;
  return JSON.stringify(value);
}

/** What the fields hold at first: what was given before, else nothing, so that the tool's own defaults hold. */
export function initialTexts(fields: readonly SchemaField[], given: Readonly<Record<string, unknown>>): ArgumentTexts {
  return Object.fromEntries(fields.map((field) => [field.name, textOf(field, given[field.name])]));
}

function textOf({ kind }: SchemaField, value: unknown): string {
  if (value === undefined) return "";
  if (kind === "choice") return JSON.stringify(value);
  if (kind === "json") return JSON.stringify(value, null, 2);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Arguments beside those that the schema names; a form shows them as JSON. */
export function othersIn(fields: readonly SchemaField[], given: Readonly<Record<string, unknown>>) {
  const known = new Set(fields.map(({ name }) => name));
  return Object.fromEntries(Object.entries(given).filter(([name]) => !known.has(name)));
}

/** Reads a form. Only what a field can tell by itself is judged here; the gateway judges the whole. */
export function readArguments(fields: readonly SchemaField[], texts: ArgumentTexts): ArgumentReading {
  const given: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? "";
    // A text of several lines may be empty: a file is.
    if (text === "" && !(field.required && field.kind === "text")) {
      if (field.required) errors[field.name] = t`This has to be given`;
      continue;
    }
    const read = readField(field, text);
    if ("error" in read) errors[field.name] = read.error;
    else given[field.name] = read.value;
  }
  return Object.keys(errors).length > 0 ? { kind: "errors", errors } : { kind: "arguments", given };
}

type Reading = { readonly value: unknown } | { readonly error: string };

function readField({ kind, schema }: SchemaField, text: string): Reading {
  switch (kind) {
    case "line":
    case "text":
      return readText(schema, text);
    case "integer":
    case "number":
      return readNumber(schema, text.trim(), kind === "integer");
    case "yesNo":
      return { value: text === "true" };
    case "choice":
    case "json":
      return readJson(schema, text);
  }
}

function readText({ minLength, maxLength, pattern }: Schema, text: string): Reading {
  const { length } = [...text];
  if (typeof minLength === "number" && length < minLength)
    return { error: minLength === 1 ? t`This has to be given` : t`At least ${minLength} characters` };
  if (typeof maxLength === "number" && length > maxLength) return { error: t`At most ${maxLength} characters` };
  if (typeof pattern === "string" && !fits(pattern, text)) return { error: t`This has to fit the pattern ${pattern}` };
  return { value: text };
}

/** A pattern that no browser can read is for the gateway to judge. */
function fits(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

function readNumber({ minimum, maximum }: Schema, text: string, whole: boolean): Reading {
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) return { error: t`This is no number` };
  if (whole && !Number.isSafeInteger(value)) return { error: t`This has to be a whole number` };
  if (typeof minimum === "number" && value < minimum) return { error: t`At least ${minimum}` };
  if (typeof maximum === "number" && value > maximum) return { error: t`At most ${maximum}` };
  return { value };
}

const JSON_KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
};

function readJson({ type }: Schema, text: string): Reading {
  try {
    const value: unknown = JSON.parse(text);
    const isKind = typeof type === "string" ? JSON_KINDS[type] : undefined;
    if (isKind !== undefined && !isKind(value))
      return { error: type === "object" ? t`This has to be an object, like {}` : t`This has to be a list, like []` };
    return { value };
  } catch (error) {
    return {
      error: error instanceof Error ? t`This is no JSON: ${error.message}` : t`This is no JSON: it cannot be read`,
    };
  }
}
