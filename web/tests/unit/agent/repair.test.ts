import { describe, expect, test, vi } from "vitest";
import { MAX_REPLY, parseEnvelope } from "../../../src/agent/parse.ts";
import {
  correction,
  type GenerateRequest,
  GeneratorUnusable,
  type PlannerMessage,
  type Pursuit,
  pursue,
  type TextGenerator,
} from "../../../src/agent/repair.ts";
import { readVectors } from "./vectors.ts";

/* Asking until a reply is usable. */

interface Case {
  readonly name: string;
  readonly maxRepairs?: number;
  readonly replies: readonly (string | readonly string[])[];
  readonly progress: unknown;
  readonly asked: unknown;
  readonly taken: unknown;
}

const vectors = readVectors<{ corrections: { name: string; reason: string; said: string }[]; pursuits: Case[] }>(
  "repair",
);

/** Pieces of a reply, which knows how many were taken and whether it was closed. */
class Stream {
  taken = 0;
  closed = false;
  readonly #pieces: readonly unknown[];
  readonly #before: (number: number) => void;

  constructor(pieces: readonly unknown[], before: (number: number) => void = () => undefined) {
    this.#pieces = pieces;
    this.#before = before;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    try {
      for (const [number, piece] of this.#pieces.entries()) {
        this.#before(number);
        this.taken++;
        yield piece as string;
      }
    } finally {
      this.closed = true;
    }
  }
}

const go: PlannerMessage = { role: "user", content: "go" };

function askedOf(generate: TextGenerator, more: Partial<Pursuit<unknown>> = {}) {
  return pursue<unknown>({ generate, compose: (closing) => [go, ...closing], read: parseEnvelope, ...more });
}

async function drain<T>(progress: AsyncIterable<T>): Promise<T[]> {
  const told: T[] = [];
  for await (const each of progress) told.push(each);
  return told;
}

/** A promise, and how to keep it. */
function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  const kept: ((value: T) => void)[] = [];
  const promise = new Promise<T>((resolve) => kept.push(resolve));
  return { promise, resolve: (value) => kept[0]?.(value) };
}

const settled = (text: string) => ({ kind: "settled", attempts: 1, value: { kind: "answer", text } });

test.each(vectors.corrections)("a bad reply is answered with one strict sentence", ({ reason, said }) => {
  expect(correction(reason)).toBe(said);
});

test.each(vectors.pursuits)("a model is asked until its reply is usable: $name", async (each) => {
  const asked: (readonly PlannerMessage[])[] = [];
  const streams: Stream[] = [];
  const generate = ({ messages }: GenerateRequest) => {
    asked.push(messages.slice(1));
    const reply = each.replies[asked.length - 1] ?? [];
    if (typeof reply === "string") return reply;
    const stream = new Stream(reply);
    streams.push(stream);
    return stream;
  };
  const { maxRepairs } = each;
  expect(await drain(askedOf(generate, maxRepairs === undefined ? {} : { maxRepairs }))).toEqual(each.progress);
  expect(asked).toEqual(each.asked);
  expect(streams.map((stream) => stream.taken)).toEqual(each.taken);
  expect(streams.every((stream) => stream.closed)).toBe(true);
});

describe("a generator", () => {
  test("may give its text at once, later, or as a stream later", async () => {
    expect((await drain(askedOf(async () => '{"answer": "later"}'))).at(-1)).toEqual(settled("later"));
    const stream = new Stream(['{"answer": ', '"stream"}']);
    expect((await drain(askedOf(async () => stream))).at(-1)).toEqual(settled("stream"));
  });

  test("gets the schema and the signal, and neither when there is none", async () => {
    const seen: GenerateRequest[] = [];
    const generate = (request: GenerateRequest) => {
      seen.push(request);
      return '{"answer": "x"}';
    };
    const schema = { type: "object" };
    const { signal } = new AbortController();
    await drain(askedOf(generate, { schema, signal }));
    await drain(askedOf(generate));
    expect(seen).toEqual([{ messages: [go], schema, signal }, { messages: [go] }]);
  });

  test.each([
    [null, "null"],
    [undefined, "a undefined"],
    [7, "a number"],
    [["{}"], "a object"],
  ])("that gives no text is refused by name: %s", async (made, named) => {
    const asked = drain(askedOf(() => made as unknown as string));
    await expect(asked).rejects.toThrow(GeneratorUnusable);
    await expect(asked).rejects.toThrow(named);
  });

  test("that gives a piece that is no text is closed", async () => {
    const stream = new Stream(["{", 7]);
    await expect(drain(askedOf(() => stream))).rejects.toThrow("a number");
    expect(stream.closed).toBe(true);
  });

  test("that fails in the middle has its error go through, for it is no bad reply", async () => {
    const stream = new Stream(["{", "}"], (number) => {
      if (number === 1) throw new Error("gone");
    });
    await expect(drain(askedOf(() => stream))).rejects.toThrow("gone");
  });

  test("that cannot be closed is let go", async () => {
    const bare = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: false, value: '{"answer": "x"}' }) }),
    };
    expect((await drain(askedOf(() => bare as AsyncIterable<string>))).at(-1)).toEqual(settled("x"));
  });

  test.each(["", "x".repeat(1024)])("that never ends comes to an end", async (piece) => {
    let taken = 0;
    const generate = async function* () {
      while (true) {
        taken++;
        yield piece;
      }
    };
    const told = await drain(askedOf(() => generate(), { maxRepairs: 0 }));
    expect(told.at(-1)).toEqual({ kind: "gave-up", attempts: 1, reason: "there is no JSON object" });
    expect(taken).toBeLessThanOrEqual((piece === "" ? 32_768 : MAX_REPLY / piece.length) + 1);
  });
});

describe("a signal", () => {
  const stop = () => new AbortController();

  test("that has gone off asks nobody", async () => {
    const generate = () => expect.fail("it was asked");
    await expect(drain(askedOf(generate, { signal: AbortSignal.abort(new Error("stopped")) }))).rejects.toThrow(
      "stopped",
    );
  });

  test("between two pieces closes the stream", async () => {
    const control = stop();
    const stream = new Stream(Array(9).fill("a"), (number) => {
      if (number === 2) control.abort(new Error("stopped"));
    });
    await expect(drain(askedOf(() => stream, { signal: control.signal }))).rejects.toThrow("stopped");
    await expect.poll(() => stream.closed).toBe(true);
    expect(stream.taken).toBe(3);
  });

  test("while nobody pulls closes the stream with the next pull", async () => {
    const control = stop();
    const stream = new Stream(Array(9).fill("a"));
    const progress = askedOf(() => stream, { signal: control.signal });
    await progress.next();
    control.abort(new Error("stopped"));
    await expect(progress.next()).rejects.toThrow("stopped");
    await expect.poll(() => stream.closed).toBe(true);
    expect(stream.taken).toBe(1);
  });

  test("does not wait for a stream that stands still, and closes it when it goes on", async () => {
    const control = stop();
    const { promise: told, resolve: goOn } = deferred<void>();
    let closed = false;
    const generate = async function* () {
      try {
        yield "{";
        await told;
        yield "}";
      } finally {
        closed = true;
      }
    };
    const progress = askedOf(() => generate(), { signal: control.signal });
    await progress.next();
    const next = progress.next();
    control.abort(new Error("stopped"));
    await expect(next).rejects.toThrow("stopped");
    goOn();
    await expect.poll(() => closed).toBe(true);
  });

  test("does not wait for a whole reply, and closes a stream that comes too late", async () => {
    const control = stop();
    const close = vi.fn(() => Promise.resolve({ done: true, value: undefined }));
    const late = { [Symbol.asyncIterator]: () => ({ return: close }) };
    const { promise, resolve } = deferred<AsyncIterable<string>>();
    const asked = drain(askedOf(() => promise, { signal: control.signal }));
    control.abort(new Error("stopped"));
    await expect(asked).rejects.toThrow("stopped");
    resolve(late as unknown as AsyncIterable<string>);
    await expect.poll(() => close.mock.calls.length).toBe(1);
  });

  test("that never goes off changes nothing", async () => {
    const { signal } = stop();
    expect((await drain(askedOf(async () => '{"answer": "x"}', { signal }))).at(-1)).toEqual(settled("x"));
    await expect(drain(askedOf(() => Promise.reject(new Error("gone")), { signal }))).rejects.toThrow("gone");
  });

  test("outlives a whole reply that comes too late and is text", async () => {
    const control = stop();
    const { promise, resolve } = deferred<string>();
    const asked = drain(askedOf(() => promise, { signal: control.signal }));
    control.abort(new Error("stopped"));
    await expect(asked).rejects.toThrow("stopped");
    resolve("late");
    await expect(promise).resolves.toBe("late");
  });
});

test("who stops listening closes the stream", async () => {
  const stream = new Stream(Array(9).fill("a"));
  for await (const told of askedOf(() => stream)) {
    expect(told).toEqual({ kind: "heard", attempt: 1, thought: "", said: "a" });
    break;
  }
  expect(stream).toMatchObject({ taken: 1, closed: true });
});
