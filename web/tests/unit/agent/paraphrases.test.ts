import { describe, expect, test } from "vitest";
import type { ClosedCall } from "../../../src/agent/acts.ts";
import { withoutFalseClaims } from "../../../src/agent/claims.ts";
import { holdToRecord, ShownBeginning } from "../../../src/agent/holding.ts";
import type { Category, Outcome } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface WrittenCall {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  readonly outcome: Outcome;
  readonly content: string;
}

interface Group {
  readonly name: string;
  readonly message: string;
  readonly calls: WrittenCall[];
  readonly false: string[];
  readonly true: string[];
}

interface Vectors {
  readonly tools: readonly { name: string; category: Category }[];
  readonly shown: readonly Writing[];
  readonly groups: readonly Group[];
  readonly readers: readonly { name: string; category: Category; paramSchema: Record<string, unknown> }[];
  readonly unread: readonly {
    name: string;
    message: string;
    wish?: string;
    calls: WrittenCall[];
    earlier: WrittenCall[];
    hasReader: boolean;
    text: string;
    kept: string;
  }[];
}

interface Writing {
  readonly name: string;
  readonly message: string;
  readonly calls: WrittenCall[];
  readonly pieces: string[];
  readonly shown: string[];
}

const vectors = readVectors<Vectors>("paraphrases");

const closed = (calls: readonly WrittenCall[]): ClosedCall[] =>
  calls.map(({ tool, arguments: given, outcome, content }) => ({
    call: { name: tool, arguments: given },
    result: { outcome, content, trust: "untrusted", truncated: false },
  }));

const keptOf = ({ message, calls }: Group, text: string) =>
  withoutFalseClaims(text, { message, closed: closed(calls), earlier: [], tools: vectors.tools });

describe.each(vectors.groups)("$name", (group) => {
  test.each(group.false.map((text) => [text]))("is not shown: %s", (text) => {
    expect(keptOf(group, text)).toBe("");
  });
  test.each(group.true.map((text) => [text]))("is shown: %s", (text) => expect(keptOf(group, text)).toBe(text));
});

describe("what is told of a file needs a reading", () => {
  test.each(vectors.unread)("$name", ({ message, wish, calls, earlier, hasReader, text, kept }) => {
    const tools = hasReader ? vectors.readers : [];
    expect(holdToRecord(text, { message, closed: closed(calls), earlier: closed(earlier), tools, wish })).toBe(kept);
  });
});

describe("what is being written is shown up to the first doubt", () => {
  test.each(vectors.shown)("$name", ({ message, calls, pieces, shown }) => {
    const beginning = new ShownBeginning({ message, closed: closed(calls), earlier: [], tools: vectors.readers });
    let text = "";
    let soFar = "";
    const all = pieces.map((piece) => {
      text += piece;
      soFar += text.slice(soFar.length, beginning.lengthOf(text));
      return soFar;
    });
    expect(all).toEqual(shown);
  });
});
