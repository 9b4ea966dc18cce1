import limits from "../../../loop/limits.json" with { type: "json" };
import mistakes from "../../../loop/mistakes.json" with { type: "json" };
/** What a model meant: a call of a tool, or words for the person. */
export type Envelope =
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly arguments: Record<string, unknown>;
      /** The model's own word that the message asks for further actions. */
    }
  | { readonly kind: "answer"; readonly text: string };

/** Neither. `reason` completes "Your last reply was not a valid action: …". */
export class ParseFailure {
  readonly kind = "malformed";
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Longest reply in characters that is read. A call that needs more would not fit into one message to the gateway. */
export const MAX_REPLY = limits.replyCharacters;

/** Characters of a tool's name, known or not; the gateway has no record of longer ones. */
export const MAX_NAME = limits.toolNameCharacters;

/** As deep as the gateway lets a message nest (docs/PROTOCOL.md section 2). */
const MAX_DEPTH = 64;

const SPACE = " \t\r\n";
const THINK = "<think>";
const THOUGHT = "</think>";
const HALF = /\p{Surrogate}/gu;
/** Under which names models give the arguments of a call. */
export const ARGUMENTS = ["arguments", "args", "parameters"] as const;

/** A piece of a reply, parted. */
export interface Parted {
  readonly thought: string;
  readonly said: string;
}

/** Parts the thinking at the beginning of a reply, `<think>…</think>`, from what the reply says. */
export class ThoughtFilter {
  #phase: "opening" | "thinking" | "over" = "opening";
  #held = "";

  /** The next piece. What may be a part of a tag is held back until that is clear. */
  feed(delta: string): Parted {
    if (this.#phase === "over") return { thought: "", said: delta };
    let text = this.#held + delta;
    let said = "";
    this.#held = "";
    if (this.#phase === "opening") {
      const bare = text.replace(/^[ \t\r\n]+/, "");
      said = text.slice(0, text.length - bare.length);
      if (bare.length < THINK.length && THINK.startsWith(bare)) {
        this.#held = bare;
        return { thought: "", said };
      }
      if (!bare.startsWith(THINK)) {
        this.#phase = "over";
        return { thought: "", said: text };
      }
      this.#phase = "thinking";
      text = bare.slice(THINK.length);
    }
    const end = text.indexOf(THOUGHT);
    if (end >= 0) {
      this.#phase = "over";
      return { thought: text.slice(0, end), said: said + text.slice(end + THOUGHT.length) };
    }
    let held = THOUGHT.length - 1;
    while (!text.endsWith(THOUGHT.slice(0, held))) held--;
    this.#held = text.slice(text.length - held);
    return { thought: text.slice(0, text.length - held), said };
  }

  /** What was held back when the reply ended. */
  finish(): Parted {
    const held = this.#held;
    this.#held = "";
    return this.#phase === "thinking" ? { thought: held, said: "" } : { thought: "", said: held };
  }
}

/**
 * Finds the first complete top-level `{…}` of a reply while it is being written. Braces inside strings do not count, nor do
 * escaped quotes. A brace opens an object only when what follows could begin one: a member or the end; `{like this}` is
 * prose. Each character is looked at once, however the reply is cut into pieces.
 */
export class ObjectScanner {
  readonly #thoughts = new ThoughtFilter();
  #pieces: string[] = [];
  #place: "outside" | "opened" | "inside" | "string" | "escape" = "outside";
  #depth = 0;
  #found: string | null = null;

  /** Whether an object was begun, complete or not. */
  get began(): boolean {
    return this.#found !== null || this.#place !== "outside";
  }

  /** Read on; the object once it is complete, null before. */
  feed(delta: string): string | null {
    if (this.#found === null) this.#scan(this.#thoughts.feed(delta).said);
    return this.#found;
  }

  #scan(text: string): void {
    let start = 0;
    for (let at = 0; at < text.length; at++) {
      const char = text.charAt(at);
      if (this.#place === "outside") {
        at = text.indexOf("{", at);
        if (at < 0) return;
        start = at;
        this.#place = "opened";
      } else if (this.#place === "opened") {
        if (SPACE.includes(char)) continue;
        const begins = char === '"' || char === "'" || char === "}";
        this.#place = begins ? "inside" : "outside";
        if (begins) this.#depth = 1;
        else this.#pieces = [];
        // Looked at again, as what it is in its new place.
        at--;
      } else if (this.#place === "inside") {
        if (char === '"') this.#place = "string";
        else if (char === "{") this.#depth++;
        else if (char === "}" && --this.#depth === 0) {
          this.#found = this.#pieces.join("") + text.slice(start, at + 1);
          return;
        }
      } else if (this.#place === "string") {
        if (char === "\\") this.#place = "escape";
        else if (char === '"') this.#place = "inside";
      } else this.#place = "string";
    }
    if (this.#place !== "outside") this.#pieces.push(text.slice(start));
  }
}

/** The first complete object of a whole reply, or null, with fences, prose or thinking around it or not. */
export function findObject(text: string): string | null {
  return new ObjectScanner().feed(text);
}

/** The first object of a reply as a value. */
export function readReply(text: string): Record<string, unknown> | ParseFailure {
  const scanner = new ObjectScanner();
  const found = scanner.feed(text);
  if (found !== null) return readObject(found);
  return new ParseFailure(scanner.began ? mistakes.endlessObject : mistakes.noObject);
}

/** One JSON object as a value. Line ends and other control characters written plainly inside strings are let pass. */
export function readObject(text: string): Record<string, unknown> | ParseFailure {
  if (text.length > MAX_REPLY) return new ParseFailure(mistakes.tooLong);
  if (hasHalf(text)) return new ParseFailure(mistakes.halfCharacter);
  const survey = measure(text);
  if (survey.depth > MAX_DEPTH) return new ParseFailure(mistakes.tooDeep);
  let value: unknown;
  try {
    value = JSON.parse(survey.text);
  } catch {
    return new ParseFailure(mistakes.noJson);
  }
  if (!isObject(value)) return new ParseFailure(mistakes.otherJson);
  const contents = { members: 0, hasSurrogate: false, hasWildNumber: false };
  take(value, contents);
  if (contents.hasSurrogate) return new ParseFailure(mistakes.halfCharacter);
  if (contents.members !== survey.members) return new ParseFailure(mistakes.doubledMember);
  return contents.hasWildNumber ? new ParseFailure(mistakes.wildNumber) : value;
}

/**
 * A call or an answer. Both `{"tool", "arguments"}` | `{"answer"}` and the planner's `{"type": "tool_call",
 * "toolName", "arguments"}` | `{"type": "final_answer", "content"}` are understood, and so is how common models were taught to
 * write a call: `name` with `parameters`, and arguments that are JSON inside a string.
 */
export function parseEnvelope(text: string): Envelope | ParseFailure {
  const value = readReply(text);
  if (isParseFailure(value)) return value;
  const tool = toolOf(value);
  if (tool !== null) {
    if (tool.length > MAX_NAME) return new ParseFailure(mistakes.noTool);
    const given = argumentsOf(value);
    return isParseFailure(given) ? given : { kind: "call", tool, arguments: given };
  }
  const { type, answer, content, question } = value;
  if (typeof answer === "string") return { kind: "answer", text: answer };
  if (type === "final_answer" && typeof content === "string") return { kind: "answer", text: content };
  if (type === "ask_user" && typeof question === "string") return { kind: "answer", text: question };
  return new ParseFailure(mistakes.noAction);
}

/** The tool that an object names, under any of the names that models use for it. */
export function toolOf(value: Readonly<Record<string, unknown>>): string | null {
  const names = [value.tool, value.toolName, ARGUMENTS.some((key) => Object.hasOwn(value, key)) ? value.name : ""];
  return names.find((name): name is string => typeof name === "string" && name !== "") ?? null;
}

/** The arguments that an object gives, under any of the names that models use for them; none are no arguments. */
export function argumentsOf(value: Readonly<Record<string, unknown>>): Record<string, unknown> | ParseFailure {
  const written = ARGUMENTS.map((key) => value[key]).find((each) => each !== undefined && each !== null) ?? {};
  const given = typeof written === "string" ? readObject(written) : written;
  return isObject(given) && !isParseFailure(given) ? given : new ParseFailure(mistakes.otherArguments);
}

const ANSWER_OPENING = /^[ \t\r\n]*\{[ \t\r\n]*"answer"[ \t\r\n]*:[ \t\r\n]*"/;
/** A whole piece of a string as it stands in JSON; half of a surrogate pair waits for the other half. */
const STRING_PIECE =
  /[^"\\]+|\\[^u]|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u(?![dD][89abAB])[\da-fA-F]{4}/y;

/** Reads the answer out of `{"answer": "…` while it is being written, each character once. */
export class AnswerReader {
  #at = 0;
  #isBroken = false;

  /** What of the answer is new in the text so far, or null when it is not (or not yet) an answer. */
  read(text: string): string | null {
    if (this.#isBroken) return null;
    if (this.#at === 0) {
      const opening = ANSWER_OPENING.exec(text);
      if (opening === null) return null;
      this.#at = opening[0].length;
    }
    let end = this.#at;
    STRING_PIECE.lastIndex = end;
    while (STRING_PIECE.test(text)) end = STRING_PIECE.lastIndex;
    const written = text.slice(this.#at, end).replace(/[\ud800-\udbff]$/, "");
    try {
      const said = JSON.parse(measure(`"${written}"`).text) as string;
      this.#at += written.length;
      return said;
    } catch {
      this.#isBroken = true;
      return null;
    }
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isParseFailure(value: unknown): value is ParseFailure {
  return value instanceof ParseFailure;
}

/** What is to know about a JSON text before it is decoded: its nesting, its members (a colon each). */
interface Survey {
  /** The text, with the control characters inside its strings escaped. */
  readonly text: string;
  readonly depth: number;
  readonly members: number;
}

function measure(text: string): Survey {
  let [kept, depth, deepest, members] = [0, 0, 0, 0];
  let quoted = false;
  let pieces = "";
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') quoted = !quoted;
    else if (char === "\\") at++;
    else if (quoted) {
      if (char >= " ") continue;
      pieces += `${text.slice(kept, at)}\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
      kept = at + 1;
    } else if (char === "{" || char === "[") deepest = Math.max(deepest, ++depth);
    else if (char === "}" || char === "]") depth--;
    else if (char === ":") members++;
  }
  return { text: pieces + text.slice(kept), depth: deepest, members };
}

/** What a decoded value holds. */
interface Contents {
  members: number;
  hasSurrogate: boolean;
  hasWildNumber: boolean;
}

function take(value: unknown, contents: Contents): void {
  if (typeof value === "string") contents.hasSurrogate ||= hasHalf(value);
  else if (typeof value === "number") contents.hasWildNumber ||= !(Math.abs(value) <= Number.MAX_SAFE_INTEGER);
  else if (Array.isArray(value)) for (const item of value) take(item, contents);
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      contents.members++;
      take(name, contents);
      take(member, contents);
    }
  }
}

/** Whether a text holds half of a character. */
export function hasHalf(text: string): boolean {
  return text.search(HALF) >= 0;
}

/** The text without halves of characters, which no tokeniser takes. */
export function withoutHalves(text: string): string {
  return text.replace(HALF, "\ufffd");
}
