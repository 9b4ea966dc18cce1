import { describe, expect, test } from "vitest";
import {
  type Action,
  type ActionKind,
  DEFAULT_ACTIONS,
  type PlannerTool,
  plannerSchema,
  readAction,
  shapeOf,
} from "../../../src/agent/actions.ts";
import { estimateTokens } from "../../../src/agent/budget.ts";
import { ParseFailure, readReply } from "../../../src/agent/parse.ts";
import {
  OnDevicePlanner,
  OnDevicePlannerError,
  type OnDevicePlannerOptions,
  type Planner,
  type PlannerChunk,
} from "../../../src/agent/planner.ts";
import type { AgentContext } from "../../../src/agent/planner-prompt.ts";
import type { GenerateRequest } from "../../../src/agent/repair.ts";
import { requirement } from "../../requirement.ts";
import { readVectors } from "./vectors.ts";

/* The planner for small models, against the vectors that Python reads too. */

interface Reading {
  readonly name: string;
  readonly reply: string;
  readonly actions?: readonly ActionKind[];
  readonly action?: Action;
  readonly reason?: string;
}

interface Plan {
  readonly name: string;
  readonly options?: Omit<OnDevicePlannerOptions, "generate">;
  readonly context: AgentContext;
  readonly replies: readonly (string | readonly string[])[];
  readonly chunks: readonly unknown[];
  readonly error?: { readonly attempts: number; readonly reason: string; readonly message: string };
  readonly prompts: readonly unknown[];
}

interface Schema {
  readonly name: string;
  readonly actions: readonly ActionKind[];
  readonly tools: readonly PlannerTool[];
  readonly schema: unknown;
}

const vectors = readVectors<{
  tools: string[];
  readings: Reading[];
  shapes: { name: ActionKind; shape: string }[];
  schemas: Schema[];
  plans: Plan[];
}>("planner");

const stamps = { newId: () => "made-up", now: () => "2026-11-21T10:00:00.000Z" };
const answer = '{"type":"final_answer","content":"hi"}';
const context: AgentContext = { agent: { role: "helper" }, task: { input: "say hi" } };

async function drain<T>(chunks: AsyncIterable<T>, into: T[] = []): Promise<T[]> {
  for await (const chunk of chunks) into.push(chunk);
  return into;
}

async function* streamOf(pieces: readonly string[]): AsyncGenerator<string, void, undefined> {
  yield* pieces;
}

function sizeOf({ messages }: GenerateRequest): number {
  return messages.reduce((sum, { content }) => sum + 8 + estimateTokens(content), 0);
}

test.each(vectors.readings)("a reply is an action of the vocabulary or there is a reason: $name", (each) => {
  const value = readReply(each.reply);
  const made =
    value instanceof ParseFailure ? value : readAction(value, each.actions ?? DEFAULT_ACTIONS, vectors.tools, stamps);
  expect(made instanceof ParseFailure ? { reason: made.reason } : { action: made }).toEqual(
    each.action ? { action: each.action } : { reason: each.reason },
  );
});

test.each(vectors.shapes)("every action is shown by its shape: $name", ({ name, shape }) => {
  expect(shapeOf(name)).toBe(shape);
});

test.each(vectors.schemas)("the schema holds a model to the vocabulary and the tools: $name", (each) => {
  expect(plannerSchema(each.actions, each.tools)).toEqual(each.schema);
});

test.each(vectors.plans)("a plan is one action or one error: $name", async (each) => {
  const asked: GenerateRequest[] = [];
  const planner = new OnDevicePlanner({
    ...each.options,
    clock: () => 1_795_255_200_000,
    generate: (request) => {
      asked.push(request);
      const reply = each.replies[asked.length - 1];
      if (reply === undefined) expect.fail(`the script has no reply ${asked.length}`);
      return typeof reply === "string" ? reply : streamOf(reply);
    },
  });
  const chunks: PlannerChunk[] = [];
  const failure: unknown = await drain(planner.planStream(each.context), chunks).then(
    () => undefined,
    (error) => error,
  );
  if (each.error === undefined) expect(failure).toBeUndefined();
  else {
    expect(failure).toBeInstanceOf(OnDevicePlannerError);
    expect(failure).toMatchObject(each.error);
  }
  expect(chunks).toEqual(each.chunks);
  expect(asked.map(({ messages }) => messages)).toEqual(each.prompts);
  for (const request of asked) expect(sizeOf(request)).toBeLessThanOrEqual(each.options?.maxPromptTokens ?? 3500);
});

test("a prompt has room for 3500 tokens unless told otherwise", async () => {
  const remembering = { ...context, memory: Array<string>(100).fill("m".repeat(400)) };
  const longest = async (more: Partial<OnDevicePlannerOptions>) => {
    let size = 0;
    const generate = (request: GenerateRequest) => {
      size = sizeOf(request);
      return answer;
    };
    await new OnDevicePlanner({ generate, ...more }).plan(remembering);
    return size;
  };
  const usual = await longest({});
  expect(usual).toBeGreaterThan(3350);
  expect(usual).toBeLessThanOrEqual(3500);
  expect(await longest({ maxPromptTokens: 1000 })).toBeGreaterThan(850);
  expect(await longest({ maxPromptTokens: 1000, countTokens: (text) => text.length })).toBeLessThanOrEqual(260);
});

describe("an action without id and time", () => {
  test("gets them", async () => {
    const planner = new OnDevicePlanner({ generate: () => answer, clock: () => 0, idGenerator: () => "x" });
    const action = await planner.plan(context);
    expect(action).toEqual({ id: "x", type: "final_answer", createdAt: "1970-01-01T00:00:00.000Z", content: "hi" });
  });

  test("is numbered and has no time when there are no clock and no ids", async () => {
    const planner = new OnDevicePlanner({ generate: async () => answer });
    expect(await planner.plan(context)).toEqual({ id: "action-1", type: "final_answer", content: "hi" });
    expect(await planner.plan(context)).toEqual({ id: "action-2", type: "final_answer", content: "hi" });
  });
});

test("chunks reach whoever waits for the action", async () => {
  const chunks: PlannerChunk[] = [];
  const replies = ["no", answer];
  const planner = new OnDevicePlanner({ generate: () => replies.shift() ?? "" });
  const action = await planner.plan(context, { onChunk: (chunk) => chunks.push(chunk) });
  expect(chunks).toEqual([
    { type: "text", delta: "no" },
    { type: "repair", attempt: 1, reason: "there is no JSON object" },
    { type: "text", delta: answer },
    { type: "action", action },
  ]);
});

test("the schema and the signal reach the generator", async () => {
  const seen: GenerateRequest[] = [];
  const generate = (request: GenerateRequest) => {
    seen.push(request);
    return answer;
  };
  const { signal } = new AbortController();
  await new OnDevicePlanner({ generate, actions: ["final_answer"] }).plan(context, { signal });
  expect(seen[0]?.schema).toEqual(plannerSchema(["final_answer"], []));
  expect(seen[0]?.signal).toBe(signal);
});

test("halves of characters are shown as such", async () => {
  const prompts: unknown[] = [];
  const generate = ({ messages }: GenerateRequest) => {
    prompts.push(messages[1]?.content);
    return answer;
  };
  const steps = [{ action: { type: "stop" }, observation: "\ude00 \ud83d\ude00 \ud83d" }];
  await new OnDevicePlanner({ generate }).plan({ ...context, task: { input: "a\ud83d b" }, steps });
  expect(prompts).toEqual(["Task: a\ufffd b\nDone so far:\n1. stop{} -> \ufffd 😀 \ufffd\nNext action:"]);
});

describe("a plan", () => {
  test("does not hide what the generator throws", async () => {
    const planner = new OnDevicePlanner({ generate: () => Promise.reject(new Error("gone")) });
    await expect(planner.plan(context)).rejects.toThrow("gone");
  });

  test("ends at once when it is aborted, and its generator with it", async () => {
    const control = new AbortController();
    let closed = false;
    const generate = async function* () {
      try {
        yield "{";
        control.abort(new Error("stopped"));
        yield "}";
      } finally {
        closed = true;
      }
    };
    const planner = new OnDevicePlanner({ generate: () => generate() });
    await expect(planner.plan(context, { signal: control.signal })).rejects.toThrow("stopped");
    await expect.poll(() => closed).toBe(true);
  });

  test.each(["the stream of one who leaves early", "a listener that fails"])("is closed: %s", async (how) => {
    let closed = false;
    const generate = async function* () {
      try {
        yield "{";
        yield "}";
      } finally {
        closed = true;
      }
    };
    const planner = new OnDevicePlanner({ generate: () => generate() });
    if (how === "a listener that fails") {
      const fail = () => {
        throw new Error("nobody there");
      };
      await expect(planner.plan(context, { onChunk: fail })).rejects.toThrow("nobody there");
    } else for await (const _ of planner.planStream(context)) break;
    expect(closed).toBe(true);
  });
});

test.each([
  ["no action", { actions: [] }],
  ["an unknown action", { actions: ["dance" as ActionKind] }],
  ["negative repairs", { maxRepairAttempts: -1 }],
  ["repairs that are no number", { maxRepairAttempts: Number.NaN }],
  ["no room", { maxPromptTokens: 0 }],
])("options that make no sense are refused at once: %s", (_name, wrong) => {
  expect(() => new OnDevicePlanner({ generate: () => answer, ...wrong })).toThrow(RangeError);
});

test("two planners share nothing but the memory they are given", async () => {
  requirement("001-13", "the planner of the browser fits its protocol as Python's does");
  const prompts: string[] = [];
  const generate = ({ messages }: GenerateRequest) => {
    prompts.push(messages[1]?.content ?? "");
    return "prose";
  };
  const large: Planner = {
    plan: async ({ memory }) => ({ id: "large", type: "final_answer", content: memory?.join() ?? "" }),
  };
  const lanes: Planner[] = [new OnDevicePlanner({ generate }), large];
  const [small, other] = await Promise.allSettled(
    lanes.map((lane) => lane.plan({ ...context, memory: ["likes tea"] })),
  );
  expect(small).toMatchObject({ status: "rejected", reason: { code: "planner_gave_up", attempts: 3 } });
  expect(other).toMatchObject({ status: "fulfilled", value: { content: "likes tea" } });
  expect(prompts[0]).toContain("- likes tea");
});
