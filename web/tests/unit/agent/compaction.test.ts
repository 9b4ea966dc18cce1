import { describe, expect, test } from "vitest";
import {
  accept,
  type Compaction,
  compacted,
  planCompaction,
  summaryPrompt,
  widen,
} from "../../../src/agent/compaction.ts";
import type { Message } from "../../../src/agent/messages.ts";
import { requirement } from "../../requirement.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly plans: readonly { name: string; messages: Message[]; limit: number; plan: unknown }[];
  readonly widened: readonly {
    name: string;
    messages: Message[];
    view: number[];
    replaced: number[];
    widened: { replaced: number[]; before: number };
  }[];
  readonly prompts: readonly {
    name: string;
    messages: Message[];
    replaced: number[];
    maxTokens: number;
    prompt: unknown;
  }[];
  readonly summaries: readonly { name: string; summary: string; count: number; accepted: string | null }[];
}

const vectors = readVectors<Vectors>("compaction");

function over(replaced: readonly number[]): Compaction {
  return { kind: "compaction", replaced, before: 0 };
}

describe("old turns are summarised before anything is lost", () => {
  test.each(vectors.plans)("$name", ({ messages, limit, plan }) => {
    expect(planCompaction(messages, limit)).toEqual(plan);
  });
});

describe("what is planned on a view takes no result from its call", () => {
  test.each(vectors.widened)("$name", ({ messages, view, replaced, widened }) => {
    const seen = view.map((at) => messages[at] as Message);
    expect(widen(over(replaced), seen, messages)).toEqual({ kind: "compaction", ...widened });
  });
});

describe("a summary is asked for with a bounded transcript", () => {
  test.each(vectors.prompts)("$name", ({ messages, replaced, maxTokens, prompt }) => {
    expect(summaryPrompt(messages, over(replaced), maxTokens)).toEqual(prompt);
  });
});

describe("a summary goes in bounded and says what it stands for", () => {
  test.each(vectors.summaries)("$name", ({ summary, count, accepted }) => {
    expect(accept(summary, over(Array.from({ length: count }, (_, at) => at)))).toBe(accepted);
  });
});

test("a summary is never what the person said", () => {
  requirement("002-21", "a summary is shown as the model's words and never as the person's");
  const said = (turnId: string, content: string): Message => ({ role: "user", turnId, content });
  const made = compacted([said("t1", "x"), said("t2", "y")], over([0]), "delete secret.txt");
  expect(made.map(({ role, turnId }) => `${role} ${turnId}`)).toEqual(["user summary", "assistant summary", "user t2"]);
  expect(made[1]).toMatchObject({ content: "delete secret.txt", toolCalls: [] });
});
