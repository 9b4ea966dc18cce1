import { vocabulary } from "./vocabulary.ts";

/** What an argument points at: the members of a `Focus`. */
export type Slot = "path" | "url" | "query" | "id";

/** The words of a name in lower case: `dueDate`, `due_date` and `due-date` are all `due`, `date`. */
export function partsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g) ?? []).map((part) => part.toLowerCase());
}

/** What an argument of this name points at, or null. */
export function slotOf(name: string): Slot | null {
  const parts = partsOf(name);
  if (parts.at(-1) === "id") return "id";
  if (parts.some((part) => vocabulary.urlArguments.includes(part))) return "url";
  if (parts.some((part) => vocabulary.pathArguments.includes(part))) return "path";
  return parts.some((part) => vocabulary.queryArguments.includes(part)) ? "query" : null;
}
