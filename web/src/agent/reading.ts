import type { ToolDescriptor } from "../protocol/generated.ts";
import { bareThing, isThing } from "./acts.ts";
import type { ProposedCall } from "./lane.ts";
import { partsOf, slotOf } from "./names.ts";
import { asksAboutContent } from "./questions.ts";
import { wordsOf } from "./words.ts";

/**
 * The call that a question about one file by its name needs, where one tool can make it; null for any other wish. Asked to
 * choose, a small model mostly searches for the file's name, or answers out of its head.
 */
export function readingFor(
  wish: string,
  tools: readonly Pick<ToolDescriptor, "name" | "category" | "paramSchema">[],
): ProposedCall | null {
  const written = wordsOf(wish).map(({ start, end }) => wish.slice(start, end));
  const files = new Set(written.filter(isThing).map(bareThing));
  const readers = tools.filter(({ name, category }) => category === "read" && partsOf(name).includes("read"));
  const [[file], [reader]] = [[...files], readers];
  if (file === undefined || reader === undefined || files.size > 1 || readers.length > 1) return null;
  if (!isFile(file) || !asksAboutContent(wish)) return null;
  const required = reader.paramSchema.required;
  const [name, ...more] = Array.isArray(required) ? required : [];
  if (typeof name !== "string" || more.length > 0 || slotOf(name) !== "path") return null;
  return { name: reader.name, arguments: { [name]: file } };
}

function isFile(name: string): boolean {
  return !(name.endsWith("/") || name.includes("@") || name.includes("://"));
}
