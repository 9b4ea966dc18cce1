import { expect, test } from "vitest";
import type { ChatDelta } from "../../../src/agent/chat.ts";
import { MAX_REPLY } from "../../../src/agent/parse.ts";
import { type ReplyEnd, ReplyReader, readDeltas } from "../../../src/agent/reply.ts";

const OBJECT = '{"answer":"x"}';
const text = (piece: string): ChatDelta => ({ kind: "text", text: piece });

async function read(end: ReplyEnd, ...deltas: ChatDelta[]): Promise<ReplyReader> {
  const reader = new ReplyReader(end);
  const chat = async function* () {
    yield* deltas;
  };
  for await (const _piece of readDeltas(chat(), reader));
  return reader;
}

test.each([
  ["object", OBJECT],
  ["after-object", `${OBJECT}\n And`],
  ["stream", `${OBJECT}\n And so on`],
] as const)("a reply is read as far as it is wanted: %s", async (end, said) => {
  const pieces = ["<think>a</think>", '{"answer":', '"x"}', "\n", " And", " so on"];
  const reader = await read(end, ...pieces.map(text));
  expect([reader.written, reader.said]).toEqual([`<think>a</think>${said}`, said]);
});

test("white space after the object leaves time for the token counts", async () => {
  const usage: ChatDelta = { kind: "usage", promptTokens: 5, completionTokens: 3 };
  const reader = await read("after-object", text(OBJECT), text("\n"), usage);
  expect([reader.usage, reader.isOver]).toEqual([usage, false]);
});

test("a piece that makes the reply too long is left out", async () => {
  const reader = await read("stream", text("a"), text("x".repeat(MAX_REPLY)), text("b"));
  expect([reader.written, reader.isOver]).toEqual(["a", true]);
});

test("an object that ends in such a piece is kept", async () => {
  const reader = await read("object", text(OBJECT + "x".repeat(MAX_REPLY)));
  expect(reader.said.startsWith(OBJECT)).toBe(true);
});
