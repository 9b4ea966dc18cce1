import { cut } from "./budget.ts";
import type { JsonSchema } from "./chat.ts";
import { Fault, MAX_REPLY, ObjectScanner, ThoughtFilter } from "./parse.ts";
import { neutralise } from "./provenance.ts";

/*
 * Asking a model until it says something usable: at most so many times, and telling it each time what was wrong. A generator
 * is all that is needed, of whatever runtime. It is stopped at the first complete object, and closed whenever it is not read
 * to its end: by that, by the signal, by an error, or because nobody listens any more.
 */

/** requirement 001-05: how often a model is told that its reply was no valid action before it is given up on. */
export const MAX_REPAIRS = 2;

/** How much of a bad reply its writer sees again, in characters. */
export const MAX_QUOTED = 1_000;

/** Most pieces of one reply that are read, so that a generator which gives nothing without end keeps nobody waiting. */
const MAX_PIECES = 32_768;

export interface PlannerMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** What a generator is asked. `schema` is for runtimes that constrain decoding; others ignore it. */
export interface GenerateRequest {
  readonly messages: readonly PlannerMessage[];
  readonly schema?: JsonSchema;
  readonly signal?: AbortSignal;
}

type Generated = string | AsyncIterable<string>;

/** Gives the whole text, or its pieces as they come. What it throws goes through to the caller, who knows the runtime. */
export type TextGenerator = (request: GenerateRequest) => Generated | Promise<Generated>;

/** A generator gave something that is no text. */
export class GeneratorUnusable extends Error {
  override readonly name = "GeneratorUnusable";
  readonly code = "generator_unusable";
}

/** How it goes. `attempt` counts from 1; the last thing said is `settled` or `gave-up`. */
export type Progress<T> =
  /** A piece of a reply, thinking parted from what is said. */
  | { readonly kind: "heard"; readonly attempt: number; readonly thought: string; readonly said: string }
  /** This attempt failed, and there is another. */
  | { readonly kind: "repairing"; readonly attempt: number; readonly reason: string }
  | { readonly kind: "settled"; readonly attempts: number; readonly value: T }
  | { readonly kind: "gave-up"; readonly attempts: number; readonly reason: string };

export interface Pursuit<T> {
  readonly generate: TextGenerator;
  /** Makes the prompt around the repair turns so far, which belong at its end. */
  compose(closing: readonly PlannerMessage[]): readonly PlannerMessage[];
  /** Gives a value, or the reason why there is none. */
  read(text: string): T | Fault;
  readonly schema?: JsonSchema | undefined;
  readonly maxRepairs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** requirement 001-11, word for word. */
export function correction(reason: string): string {
  return `Your last reply was not a valid action: ${reason}. Reply with ONLY one JSON action, no prose.`;
}

/** The bad reply, as far as its writer needs it, and the correction. */
export function repairTurns(text: string, reason: string): PlannerMessage[] {
  return [quote(text), { role: "user", content: correction(reason) }];
}

/** A bad reply as its writer sees it again. */
export function quote(text: string): PlannerMessage {
  return { role: "assistant", content: text.trim() === "" ? "(nothing)" : neutralise(cut(text, MAX_QUOTED)) };
}

/** Ask, read, and ask again. */
export async function* pursue<T>(pursuit: Pursuit<T>): AsyncGenerator<Progress<T>, void, undefined> {
  const { generate, schema, maxRepairs = MAX_REPAIRS, signal } = pursuit;
  const closing: PlannerMessage[] = [];
  for (let attempt = 1; ; attempt++) {
    const messages = pursuit.compose(closing);
    const request = { messages, ...(schema && { schema }), ...(signal && { signal }) };
    const thoughts = new ThoughtFilter();
    const scanner = new ObjectScanner();
    let text = "";
    let pieces = 0;
    for await (const piece of piecesOf(generate, request)) {
      text += piece;
      const { thought, said } = thoughts.feed(piece);
      if (thought !== "" || said !== "") yield { kind: "heard", attempt, thought, said };
      if (scanner.feed(piece) !== null || text.length > MAX_REPLY || ++pieces > MAX_PIECES) break;
    }
    const rest = thoughts.finish();
    if (rest.thought !== "" || rest.said !== "") yield { kind: "heard", attempt, ...rest };
    const value = pursuit.read(text);
    if (!(value instanceof Fault)) {
      yield { kind: "settled", attempts: attempt, value };
      return;
    }
    const { reason } = value;
    if (attempt > maxRepairs) {
      yield { kind: "gave-up", attempts: attempt, reason };
      return;
    }
    yield { kind: "repairing", attempt, reason };
    closing.push(...repairTurns(text, reason));
  }
}

/** What a generator gives, in pieces, however it gives it. */
async function* piecesOf(generate: TextGenerator, request: GenerateRequest): AsyncGenerator<string, void, undefined> {
  const { signal } = request;
  signal?.throwIfAborted();
  const made: unknown = generate(request);
  const given = isStream(made) ? made : await settle(Promise.resolve(made), signal);
  if (isStream(given)) yield* readStream(given[Symbol.asyncIterator](), signal);
  else yield textOf(given);
}

async function* readStream(
  pieces: AsyncIterator<unknown>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  let open = true;
  const pull = async () => {
    try {
      const next = await pieces.next();
      open = next.done !== true;
      return next;
    } catch (error) {
      open = false;
      throw error;
    }
  };
  try {
    while (true) {
      signal?.throwIfAborted();
      const next = await orAborted(pull(), signal);
      if (next.done === true) return;
      yield textOf(next.value);
    }
  } finally {
    // One that is being waited for closes only when it goes on. Then the signal has gone off, and nobody waits for it.
    if (open) await orAborted(close(pieces), signal);
  }
}

async function close(pieces: AsyncIterator<unknown>): Promise<void> {
  await pieces.return?.();
}

/** What a promise gives. A stream that comes when nobody waits for it any more is closed. */
async function settle(promise: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await orAborted(promise, signal);
  } catch (error) {
    promise
      .then((late) => (isStream(late) ? close(late[Symbol.asyncIterator]()) : undefined))
      .catch(() => {
        // Who asked has the first error already.
      });
    throw error;
  }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function isStream(given: unknown): given is AsyncIterable<unknown> {
  return typeof given === "object" && given !== null && Symbol.asyncIterator in given;
}

function textOf(piece: unknown): string {
  if (typeof piece === "string") return piece;
  throw new GeneratorUnusable(
    `the text generator gave ${piece === null ? "null" : `a ${typeof piece}`} where text belongs`,
  );
}
