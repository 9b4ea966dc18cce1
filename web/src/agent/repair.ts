import limits from "../../../loop/limits.json" with { type: "json" };
import mistakes from "../../../loop/mistakes.json" with { type: "json" };
import { cut } from "./budget.ts";
import type { ChatDelta, JsonSchema } from "./chat.ts";
import { fill } from "./fill.ts";
import { MAX_NUDGES, nudge } from "./nudges.ts";
import { ParseFailure } from "./parse.ts";
import { neutralise } from "./provenance.ts";
import { ReplyReader, readDeltas } from "./reply.ts";

/*
 * Asking a model until it says something usable: at most so many times, and telling it each time what was wrong. A generator
 * is all that is needed, of whatever runtime. It is stopped at the first complete object, and closed whenever it is not read
 * to its end: by that, by the signal, by an error, or because nobody listens any more.
 */

/** requirement 001-05: how often a model is told that its reply was no valid action before it is given up on. */
export const MAX_REPAIRS = limits.repairs;

/** How much of a bad reply its writer sees again, in characters. */
export const MAX_QUOTED = limits.quotedReplyCharacters;

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
  read(text: string): T | ParseFailure;
  readonly schema?: JsonSchema | undefined;
  readonly maxRepairs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** requirement 001-11, word for word. */
export function correction(reason: string): string {
  return fill(mistakes.correction, () => reason);
}

/** A bad reply as its writer sees it again. */
function quote(text: string): PlannerMessage {
  return { role: "assistant", content: text.trim() === "" ? mistakes.nothing : neutralise(cut(text, MAX_QUOTED)) };
}

/**
 * The turns that a model is told after replies that could not be used, each kind at most so many times. Both lanes and the
 * planner decide by it whether to ask again, and what to say. `turns` belong at the end of the prompt.
 */
export class RepairDialogue {
  readonly turns: PlannerMessage[] = [];
  #repairsLeft: number;
  #nudges = 0;

  constructor(maxRepairs = MAX_REPAIRS) {
    this.#repairsLeft = maxRepairs;
  }

  /** Say what was wrong with a reply. False when that was said often enough, and nothing is added. */
  repair(reply: string, told: string): boolean {
    if (this.#repairsLeft === 0) return false;
    this.#repairsLeft--;
    this.turns.push(quote(reply), { role: "user", content: told });
    return true;
  }

  /** Ask for the step that a reply only announced; the same. */
  nudge(reply: string): boolean {
    if (this.#nudges === MAX_NUDGES) return false;
    this.turns.push(quote(reply), nudge(++this.#nudges));
    return true;
  }
}

/** Ask, read, and ask again. */
export async function* pursue<T>(pursuit: Pursuit<T>): AsyncGenerator<Progress<T>, void, undefined> {
  const { generate, schema, maxRepairs = MAX_REPAIRS, signal } = pursuit;
  const dialogue = new RepairDialogue(maxRepairs);
  for (let attempt = 1; ; attempt++) {
    const messages = pursuit.compose(dialogue.turns);
    const request = { messages, ...(schema && { schema }), ...(signal && { signal }) };
    const reader = new ReplyReader("object");
    for await (const { thought, said } of readDeltas(piecesOf(generate, request), reader))
      if (thought !== "" || said !== "") yield { kind: "heard", attempt, thought, said };
    const value = pursuit.read(reader.said);
    if (!(value instanceof ParseFailure)) {
      yield { kind: "settled", attempts: attempt, value };
      return;
    }
    const { reason } = value;
    if (!dialogue.repair(reader.written, correction(reason))) {
      yield { kind: "gave-up", attempts: attempt, reason };
      return;
    }
    yield { kind: "repairing", attempt, reason };
  }
}

/** What a generator gives, as a chat gives it: in pieces, and stopped by its signal. */
async function* piecesOf(
  generate: TextGenerator,
  request: GenerateRequest,
): AsyncGenerator<ChatDelta, void, undefined> {
  const { signal } = request;
  signal?.throwIfAborted();
  const made: unknown = generate(request);
  const given = isStream(made) ? made : await settle(Promise.resolve(made), signal);
  if (isStream(given)) yield* readStream(given[Symbol.asyncIterator](), signal);
  else yield textDelta(given);
}

async function* readStream(
  pieces: AsyncIterator<unknown>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ChatDelta, void, undefined> {
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
      yield textDelta(next.value);
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

function textDelta(piece: unknown): ChatDelta {
  if (typeof piece === "string") return { kind: "text", text: piece };
  throw new GeneratorUnusable(
    `the text generator gave ${piece === null ? "null" : `a ${typeof piece}`} where text belongs`,
  );
}
