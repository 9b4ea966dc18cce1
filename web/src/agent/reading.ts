import type { ToolDescriptor } from "../protocol/generated.ts";
import { bareThing, isThing } from "./acts.ts";
import type { ProposedCall } from "./lane.ts";
import { partsOf, slotOf } from "./names.ts";
import { asksAboutContent } from "./questions.ts";
import { wordsOf } from "./words.ts";

/** As much of a tool as tells whether it reads a file. */
type ReadingTool = Pick<ToolDescriptor, "name" | "category" | "paramSchema">;

/**
 * The call that a question about one file by its name needs, where one tool can make it; null for any other wish. Asked to
 * choose, a small model mostly searches for the file's name, or answers out of its head.
 */
export function readingFor(wish: string, tools: readonly ReadingTool[]): ProposedCall | null {
  const written = wordsOf(wish).map(({ start, end }) => wish.slice(start, end));
  const [file, ...others] = new Set(written.filter(isThing).map(bareThing));
  const [reader, ...more] = tools.flatMap((tool) => {
    const path = pathOf(tool);
    return path === null ? [] : [{ name: tool.name, path }];
  });
  if (file === undefined || reader === undefined || others.length > 0 || more.length > 0) return null;
  if (!isFile(file) || !asksAboutContent(wish)) return null;
  return { name: reader.name, arguments: { [reader.path]: file } };
}

/** The one argument that a reading tool needs, where that is a path. */
function pathOf({ name, category, paramSchema }: ReadingTool): string | null {
  const required: unknown[] = Array.isArray(paramSchema.required) ? paramSchema.required : [];
  const [path] = required;
  const isReading = category === "read" && partsOf(name).includes("read") && required.length === 1;
  return isReading && typeof path === "string" && slotOf(path) === "path" ? path : null;
}

function isFile(name: string): boolean {
  return !(name.endsWith("/") || name.includes("@") || name.includes("://"));
}
