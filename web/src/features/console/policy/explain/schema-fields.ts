import type { FormField } from "../../../../protocol/generated.ts";

/** What a form can ask for of a tool's arguments, and the names of those that have to be written as JSON. */
export interface SchemaForm {
  readonly fields: readonly FormField[];
  readonly others: readonly string[];
}

/** The form for the arguments that a schema describes. The schema is its source's, so nothing about its shape is certain. */
export function formOf(schema: unknown): SchemaForm {
  const { properties, required } = asObject(schema);
  const needed = Array.isArray(required) ? required : [];
  const fields: FormField[] = [];
  const others: string[] = [];
  for (const [name, described] of Object.entries(asObject(properties))) {
    const field = fieldOf(name, asObject(described), needed.includes(name));
    if (field === undefined) others.push(name);
    else fields.push(field);
  }
  return { fields, others };
}

function fieldOf(name: string, described: Readonly<Record<string, unknown>>, required: boolean): FormField | undefined {
  const { type, description, title } = described;
  const options = textsOf(described.enum);
  const kind = options === undefined ? KINDS[String(type)] : "choice";
  if (kind === undefined || (kind === "boolean" && !required)) return undefined;
  return {
    name,
    kind,
    required,
    options: (options ?? []).map((value) => ({ value, label: value })),
    ...(typeof description === "string" && { description }),
    ...(typeof title === "string" && { title }),
  };
}

const KINDS: Readonly<Record<string, FormField["kind"]>> = {
  string: "text",
  integer: "integer",
  number: "number",
  boolean: "boolean",
};

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : undefined;
}
