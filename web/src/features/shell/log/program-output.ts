import { isObject } from "../../../agent/parse.ts";

/** The result of a program from a tool file: its two streams, each cut where that says so, and its exit code. */
export interface ProgramOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly seconds: number;
  /** The streams that held bytes that are not UTF-8. */
  readonly unreadable: readonly string[];
}

const MEMBERS: ReadonlySet<string> = new Set("tool stdout stderr exit_code duration_sec not_utf8".split(" "));

/** `1.0` is written shorter by the browser; nothing else that programs give is. */
const FORMAT_DIFFERENCE = 2;

/**
 * Read a result of `called` in the shape that programs have (docs/TOOLS.md), or null when it is another text. Other tools may
 * write that shape too, which gains them nothing: where a member is unknown or stands twice, the text is shown as it is.
 */
export function readProgramOutput(called: string, content: string): ProgramOutput | null {
  const value = parse(content);
  if (!isObject(value) || Object.keys(value).some((name) => !MEMBERS.has(name))) return null;
  if (content.length - JSON.stringify(value).length > FORMAT_DIFFERENCE) return null;
  const { tool, stdout, stderr, exit_code: exitCode, duration_sec: seconds, not_utf8: unreadable = [] } = value;
  if (tool !== called || typeof stdout !== "string" || typeof stderr !== "string") return null;
  if (typeof exitCode !== "number" || typeof seconds !== "number" || !isNames(unreadable)) return null;
  return { stdout, stderr, exitCode, seconds, unreadable };
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => each === "stdout" || each === "stderr");
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
}
