import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AgentEvent, TurnOutcome } from "../../../src/agent/events.ts";
import { Bell } from "../../../src/features/shell/bell.ts";
import { ring } from "../../../src/features/shell/chime.ts";
import { approvalFor } from "./approvals.ts";

const begun: AgentEvent = { type: "turn:begun", turnId: "trn_1", text: "hi", tools: [] };
const ended = (ending: TurnOutcome): AgentEvent => ({ type: "turn:ended", ending, label: "words" });
const asked = (id: string): AgentEvent => ({ type: "approval:requested", approval: { ...approvalFor("call_1"), id } });

/** A bell with a switch, a clock, and a list of what it rang for. */
function hung() {
  const rung: string[] = [];
  const state = { on: true, now: 0 };
  const bell = new Bell({ isOn: () => state.on, now: () => state.now, ring: (name) => rung.push(name) });
  return { bell, state, rung };
}

describe("the bell rings", () => {
  test("once for each question, however often it is told", () => {
    const { bell, rung } = hung();
    for (const id of ["apr_1", "apr_1", "apr_2", "apr_1"]) bell.hear("cnv_1", asked(id));
    expect(rung).toEqual(["apr_1", "apr_2"]);
  });

  test("not while it is off, nor later for what came in that time", () => {
    const { bell, state, rung } = hung();
    state.on = false;
    bell.hear("cnv_1", asked("apr_1"));
    bell.hear("cnv_1", begun);
    state.now = 60_000;
    bell.hear("cnv_1", ended("answered"));
    state.on = true;
    bell.hear("cnv_1", asked("apr_1"));
    expect(rung).toEqual([]);
  });

  test.each([
    ["answered", 20_000, 1],
    ["failed", 20_000, 1],
    ["capped", 20_000, 1],
    ["stopped", 20_000, 0],
    ["answered", 19_999, 0],
  ] as const)("at the end of a turn that was %s after %i ms: %i times", (ending, ms, times) => {
    const { bell, state, rung } = hung();
    bell.hear("cnv_1", begun);
    bell.hear("cnv_2", ended("answered"));
    state.now = ms;
    bell.hear("cnv_1", ended(ending));
    bell.hear("cnv_1", ended(ending));
    expect(rung).toEqual(Array(times).fill("cnv_1"));
  });
});

describe("what is heard", () => {
  const heard = { started: 0, closed: 0 };
  const param = { value: 0, setValueAtTime: () => param, linearRampToValueAtTime: () => param };
  class Audio {
    readonly destination = {};
    createOscillator = () => ({
      frequency: param,
      connect: (next: unknown) => next,
      start: () => {
        heard.started += 1;
      },
      stop: () => undefined,
    });
    createGain = () => ({ gain: param, connect: () => undefined });
    close = async () => {
      heard.closed += 1;
    };
  }
  const taken = new Set<string>();
  const locks = {
    request: async (name: string, _: unknown, work: (lock: object | null) => Promise<void>) => {
      if (taken.has(name)) return work(null);
      taken.add(name);
      await work({});
      taken.delete(name);
    },
  };

  beforeEach(() => {
    vi.useFakeTimers();
    Object.assign(heard, { started: 0, closed: 0 });
    taken.clear();
    vi.stubGlobal("AudioContext", Audio);
    vi.stubGlobal("navigator", { locks, userActivation: { hasBeenActive: true } });
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test("is two notes, after which the device is free", async () => {
    ring("apr_1");
    await vi.advanceTimersByTimeAsync(1_500);
    expect(heard).toEqual({ started: 2, closed: 1 });
  });

  test("is heard from one page of several, and again for another question", async () => {
    ring("apr_1");
    ring("apr_1");
    expect(heard.started).toBe(2);
    ring("apr_2");
    expect(heard.started).toBe(4);
    await vi.advanceTimersByTimeAsync(10_000);
    ring("apr_1");
    expect(heard.started).toBe(6);
  });

  test("is nothing in a page that nobody has touched, and where there is no sound at all", () => {
    vi.stubGlobal("navigator", { locks, userActivation: { hasBeenActive: false } });
    ring("apr_1");
    vi.stubGlobal("navigator", {});
    vi.stubGlobal("AudioContext", undefined);
    expect(() => ring("apr_2")).not.toThrow();
    expect(heard.started).toBe(0);
  });
});
