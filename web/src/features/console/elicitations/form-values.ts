import type { FormField } from "../../../protocol/generated.ts";

/** What stands in the form's controls: the text of each, whether a box is ticked, or which choices are. */
export type FormDraft = Readonly<Record<string, string | boolean | readonly string[]>>;

/** The form as the server filled it in before. */
export function draftOf(fields: readonly FormField[]): FormDraft {
  return Object.fromEntries(fields.map((field) => [field.name, beginning(field)]));
}

/** The values to send. What was left empty is left out; whether that is allowed the gateway says. */
export function valuesOf(fields: readonly FormField[], draft: FormDraft): Record<string, unknown> {
  const values = fields.map(({ name, kind }) => [name, sent(kind, draft[name])] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function beginning({ kind, default: filled }: FormField): FormDraft[string] {
  switch (kind) {
    case "boolean":
      return filled === true;
    case "choices":
      return Array.isArray(filled) ? filled.map(String) : [];
    case "text":
    case "number":
    case "integer":
    case "choice":
      return filled === undefined || filled === null ? "" : String(filled);
  }
}

function sent(kind: FormField["kind"], drafted: FormDraft[string] | undefined): unknown {
  if (kind === "boolean") return drafted === true;
  if (kind === "choices") return Array.isArray(drafted) && drafted.length > 0 ? drafted : undefined;
  if (typeof drafted !== "string" || drafted === "") return undefined;
  if (kind !== "number" && kind !== "integer") return drafted;
  const number = Number(drafted);
  // As it was written: the gateway says that it is no number.
  return Number.isFinite(number) ? number : drafted;
}
