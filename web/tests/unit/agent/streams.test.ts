// Chat completions as servers send them, held to vectors that the tests of gateway/agent hold theirs to.
import { expect, test } from "vitest";
import { type ChatDelta, ChatFailure } from "../../../src/agent/chat.ts";
import { CompletionStream, readFailure } from "../../../src/agent/completion-stream.ts";
import { readVectors } from "./vectors.ts";

interface WrittenFailure {
  readonly kind: string;
  readonly message: string;
  readonly state?: string;
}

interface Streams {
  readonly cases: readonly {
    readonly name: string;
    readonly body: string;
    readonly deltas: readonly unknown[];
    readonly failure?: WrittenFailure;
  }[];
  readonly refusals: readonly {
    readonly name: string;
    readonly status: number;
    readonly body: string;
    readonly failure: WrittenFailure;
  }[];
}

const streams = readVectors<Streams>("streams");

function written(delta: ChatDelta): unknown {
  switch (delta.kind) {
    case "text":
      return { text: delta.text };
    case "call":
      return { call: delta.index, name: delta.name, arguments: delta.arguments };
    case "cut":
      return { cut: delta.why };
    case "usage":
      return { usage: [delta.promptTokens, delta.completionTokens] };
  }
}

function failureAsWritten({ kind, message, state }: ChatFailure): WrittenFailure {
  return { kind, message, ...(state !== undefined && { state }) };
}

/** All that comes of a body in pieces of `size`. */
function read(body: string, size: number): { deltas: unknown[]; failure?: WrittenFailure } {
  const stream = new CompletionStream();
  const deltas: unknown[] = [];
  try {
    for (let start = 0; start < body.length; start += size)
      for (const delta of stream.feed(body.slice(start, start + size))) deltas.push(written(delta));
    for (const delta of stream.finish()) deltas.push(written(delta));
  } catch (error) {
    if (error instanceof ChatFailure) return { deltas, failure: failureAsWritten(error) };
    throw error;
  }
  return { deltas };
}

test.each(streams.cases)("a reply is read as it was meant, however it is cut: $name", ({ body, deltas, failure }) => {
  for (const size of [1, 7, 100_000]) expect(read(body, size)).toEqual({ deltas, ...(failure && { failure }) });
});

test.each(streams.refusals)("a refusal keeps the words of the server: $name", ({ status, body, failure }) => {
  expect(failureAsWritten(readFailure(status, body))).toEqual(failure);
});

test.each(["data: ", '{"a":"', ""])("what never ends is not gathered for ever: %s", (begun) => {
  const stream = new CompletionStream();
  expect([...stream.feed(begun)]).toEqual([]);
  expect(() => [...stream.feed(" ".repeat(5 << 20))]).toThrow("garbled");
});
