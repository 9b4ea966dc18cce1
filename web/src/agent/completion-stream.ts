import limits from "../../../loop/limits.json" with { type: "json" };
import { type ChatDelta, ChatFailure, type CutReason } from "./chat.ts";
import { isObject } from "./parse.ts";
import { CallSorter } from "./stream-calls.ts";

/*
 * A chat completion as servers really send it, read into the deltas of the loop.
 *
 * Server-sent events or, from servers that do not stream, one JSON object. A reply is whole once it says `[DONE]` or why it
 * ended; an error inside it is the server's own, and its words are kept.
 */

/** Characters of one event; a server that sends more without a line end never meant to end it. */
const LONGEST_LINE = 1 << 20;

/** Characters of a reply that is not streamed. */
const LONGEST_WHOLE = 4 << 20;

/** Reasons to end that leave a reply incomplete. */
const CUT: Readonly<Record<string, CutReason>> = { length: "length", max_tokens: "length", content_filter: "filtered" };

/** One reply. Give it the text as it comes, and `finish` it at its end. */
export class CompletionStream {
  readonly #calls = new CallSorter();
  #rest = "";
  #isStreamed: boolean | null = null;
  #isComplete = false;

  /** What this piece says. Throws `ChatFailure`. */
  *feed(piece: string): Iterable<ChatDelta> {
    this.#rest += piece;
    const begun = this.#isStreamed === null ? this.#rest.trimStart() : "";
    if (begun !== "") this.#isStreamed = !begun.startsWith("{");
    if (this.#isStreamed === true) {
      const end = this.#rest.lastIndexOf("\n") + 1;
      const lines = this.#rest.slice(0, end).split("\n");
      this.#rest = this.#rest.slice(end);
      for (const line of lines) yield* this.#readLine(line);
    }
    if (this.#rest.length > (this.#isStreamed === true ? LONGEST_LINE : LONGEST_WHOLE)) throw garbled();
  }

  /** What was held back until the end. Throws `ChatFailure` where the reply is not whole. */
  *finish(): Iterable<ChatDelta> {
    const rest = this.#rest;
    if (this.#isStreamed === false) {
      yield* this.#readChunk(rest);
      this.#isComplete = true;
    } else yield* this.#readLine(rest);
    if (!this.#isComplete)
      throw new ChatFailure(this.#isStreamed === null ? "unreachable" : "brokeOff", "the reply broke off");
  }

  *#readLine(line: string): Iterable<ChatDelta> {
    if (!line.startsWith("data:")) return;
    const data = line.slice("data:".length).trim();
    if (data === "[DONE]") this.#isComplete = true;
    else if (data !== "") yield* this.#readChunk(data);
  }

  *#readChunk(data: string): Iterable<ChatDelta> {
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      throw garbled();
    }
    if (!isObject(chunk)) return;
    if ((isObject(chunk.error) || textOf(chunk.error) !== "") && !this.#isComplete) throw failureOf(502, chunk);
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (isObject(choice)) yield* this.#readChoice(choice);
    if (isObject(chunk.usage)) {
      const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = chunk.usage;
      if (typeof promptTokens === "number" && typeof completionTokens === "number")
        yield { kind: "usage", promptTokens, completionTokens };
    }
  }

  *#readChoice({ delta, message, finish_reason: reason }: Record<string, unknown>): Iterable<ChatDelta> {
    const said = [delta, message].find((each) => isObject(each) && Object.keys(each).length > 0);
    if (isObject(said)) {
      const text = wordsOf(said.content) + wordsOf(said.refusal);
      if (text !== "") yield { kind: "text", text };
      if (Array.isArray(said.tool_calls)) yield* this.#calls.read(said.tool_calls);
    }
    if (typeof reason !== "string" || reason === "") return;
    this.#isComplete = true;
    const why = Object.hasOwn(CUT, reason) ? CUT[reason] : undefined;
    if (why !== undefined) yield { kind: "cut", why };
  }
}

/** An answer that is a refusal, with the server's own words where it has any. */
export function readFailure(status: number, body: string): ChatFailure {
  try {
    const parsed: unknown = JSON.parse(body);
    if (isObject(parsed)) return failureOf(status, parsed);
  } catch {
    // Not ours: a proxy between us. The status says enough.
  }
  return failureOf(status, {});
}

/** The same of a body that was read. Servers put their words in `error.message`, `error`, `message` or `detail`. */
function failureOf(status: number, body: Record<string, unknown>): ChatFailure {
  const error = isObject(body.error) ? body.error : {};
  const given = [error.message, body.error, body.message, body.detail].map(textOf).find(Boolean) ?? "";
  const message = given.slice(0, limits.modelErrorCharacters) || `status ${status}`;
  const state = typeof error.reason === "string" ? error.reason : undefined;
  if (status === 401 || status === 403) return new ChatFailure("unauthorised", message);
  if (status === 503 || error.code === "model_unavailable") return new ChatFailure("modelUnavailable", message, state);
  if (status < 500) return new ChatFailure("refused", message);
  return new ChatFailure(given === "" ? "unreachable" : "failed", message);
}

function garbled(): ChatFailure {
  return new ChatFailure("unreachable", "the reply is garbled");
}

/** Text, or the text parts of a list of parts. */
function wordsOf(content: unknown): string {
  return Array.isArray(content)
    ? content.map((part) => (isObject(part) ? textOf(part.text) : "")).join("")
    : textOf(content);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
