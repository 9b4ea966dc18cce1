import { expect, test } from "vitest";
import { withoutFalseClaims } from "../../../src/agent/claims.ts";
import type { ToolOnOffer } from "../../../src/agent/unlisted.ts";
import { readVectors } from "./vectors.ts";

interface VectorCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string | number>>;
  readonly content: string;
}

interface Turn {
  readonly message: string;
  readonly calls: readonly VectorCall[];
}

type Halves = Readonly<Record<"before" | "after", readonly string[]>>;

interface Vectors {
  readonly tools: readonly ToolOnOffer[];
  readonly contexts: readonly (Turn & { readonly name: string })[];
  readonly claims: Halves;
  readonly harmless: Halves;
  readonly recorded: readonly {
    readonly message: string;
    readonly call: VectorCall;
    readonly says: readonly string[];
  }[];
  readonly told: readonly (Turn & { readonly says: string; readonly shown: boolean })[];
  readonly passes: Readonly<Record<string, readonly string[]>>;
  readonly dropped: readonly string[];
}

const { tools, contexts, claims, harmless, recorded, told, passes, dropped } = readVectors<Vectors>("open-acts");
const CLAIMS = [...claims.before, ...claims.after];
const HARMLESS = [...harmless.before, ...harmless.after];

function shown(sentences: readonly string[], { message, calls }: Turn): string[] {
  const closed = calls.map(({ tool, arguments: given, content }, number) => ({
    call: { id: `c${number}`, name: tool, arguments: given },
    result: { outcome: "ok", content, trust: "untrusted", truncated: false } as const,
  }));
  const record = { message, closed, earlier: [], tools };
  return sentences.filter((each) => withoutFalseClaims(each, record) === each);
}

test.each(contexts)("a claim in a verb that no list has needs a record: $name", (context) => {
  expect(shown(CLAIMS, context)).toEqual(passes[context.name]);
});

test.each(contexts)("what claims no act is shown: $name", (context) => {
  const kept = shown(HARMLESS, context);
  expect(HARMLESS.filter((each) => !kept.includes(each))).toEqual(dropped);
});

test.each(recorded)("what a call did is told in any words: $message", ({ message, call, says }) => {
  expect(shown(says, { message, calls: [call] })).toEqual(says);
});

test.each(told)("a claim is held against what the turn has of it: $says", ({ says, shown: isShown, ...turn }) => {
  expect(shown([says], turn)).toEqual(isShown ? [says] : []);
});
