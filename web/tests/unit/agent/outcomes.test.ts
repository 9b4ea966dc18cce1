import { expect, test } from "vitest";
import { sourceOf } from "../../../src/agent/answers.ts";
import {
  type Carrying,
  carried,
  carryingIn,
  isCarried,
  linesAbout,
  mustBeWorkedOut,
  nextLook,
  ownValue,
  questionOf,
  readFor,
  shownValue,
} from "../../../src/agent/carrying.ts";
import type { ProposedCall } from "../../../src/agent/lane.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import { outcomeIn } from "../../../src/agent/outcomes.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

type Call = [name: string, given: ProposedCall["arguments"]];

interface Expected {
  readonly next?: Call | null;
  readonly says?: string;
  readonly shown?: string;
  readonly question?: string;
  readonly about?: string | null;
}

interface Step extends Expected {
  readonly name: string;
  readonly say: string;
  readonly calls: [...Call, content: string][];
}

interface Vectors {
  readonly tools: Pick<ToolDescriptor, "name" | "description" | "category" | "paramSchema">[];
  readonly wishes: { say: string; outcome: string[] | null }[];
  readonly steps: Step[];
  readonly missing: { name: string; say: string; without: string[]; next: Call | null }[];
}

const vectors = readVectors<Vectors>("outcomes");
const { tools } = vectors;

test.each(vectors.wishes)("the words show what is found out and where it goes: $say", ({ say, outcome }) => {
  const wish = outcomeIn(say);
  expect(wish && [wish.carry, wish.source, wish.kept, wish.target]).toEqual(outcome);
});

test.each(vectors.steps)("what was found goes into the call that was asked for: $name", (step) => {
  const { name, say, calls, ...expected } = step;
  expect(told(say, calls.map(closed))).toEqual(expected);
});

test.each(vectors.missing)("nothing is carried on without a tool for each half: $name", ({ say, without, next }) => {
  const carrying = carryingIn(
    say,
    tools.filter(({ name }) => !without.includes(name)),
  );
  expect(carrying && callOf(carrying.first)).toEqual(next);
});

function told(say: string, calls: ToolMessage[]): Expected {
  const carrying = carryingIn(say, tools);
  if (carrying === null || calls.length === 0) return { next: carrying && callOf(carrying.first) };
  if (isCarried(carrying, calls)) return { shown: shownValue(carrying, calls) };
  const look = nextLook(carrying, calls, tools);
  if (typeof look === "string") return { says: look };
  return look === null ? goingOn(carrying, calls) : { next: callOf(look) };
}

function goingOn(carrying: Carrying, calls: ToolMessage[]): Expected {
  const answering = readFor(carrying, calls, tools);
  const value = ownValue(carrying, answering);
  if (value !== null) return { next: callOf(carried(carrying, value)) };
  const question = questionOf(carrying);
  return { question, about: mustBeWorkedOut(carrying) ? null : linesAbout(question, sourceOf(answering)) };
}

function closed([name, given, content]: [...Call, content: string]): ToolMessage {
  const call = { id: "c", name, arguments: given };
  return { role: "tool", turnId: "t", call, result: { outcome: "ok", content, trust: "untrusted", truncated: false } };
}

function callOf({ name, arguments: given }: ProposedCall): Call {
  return [name, given];
}
