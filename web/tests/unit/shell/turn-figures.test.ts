import { expect, test } from "vitest";
import type { KeptTexts } from "../../../src/features/shell/shell-environment.ts";
import { TurnFigures } from "../../../src/features/shell/turn-figures.ts";

function keptTexts(): KeptTexts {
  const texts = new Map<string, string>();
  return { read: (name) => texts.get(name) ?? "", write: (name, text) => void texts.set(name, text) };
}

test("a turn of several requests took all of their tokens, and its first words came once, after the message was sent", () => {
  const figures = new TurnFigures("cnv_1", keptTexts());
  figures.send(1_000);
  // The first request only makes a call: no word is seen yet.
  figures.follow({ type: "model:asked" }, "trn_1", 1_500);
  figures.follow({ type: "text:streamed", delta: "\n" }, "trn_1", 1_800);
  figures.add("trn_1", { tokens: 20, seconds: 2 });
  figures.follow({ type: "text:streamed", delta: "There" }, "trn_1", 8_000);
  figures.follow({ type: "text:streamed", delta: " are three." }, "trn_1", 9_000);
  figures.follow({ type: "assistant:said", content: "There are three.", stopped: false }, "trn_1", 9_100);
  figures.add("trn_1", { tokens: 10, seconds: 1 });
  figures.follow({ type: "turn:ended", ending: "answered", label: "words" }, "trn_1", 9_200);
  expect(figures.byTurn.get("trn_1")).toEqual({ tokens: 30, seconds: 3, firstSeconds: 7 });
});

test("an answer that is shown at once ends the wait, and one of a turn that this page did not send has none", () => {
  const figures = new TurnFigures("cnv_1", keptTexts());
  figures.send(0);
  figures.follow({ type: "assistant:said", content: "Hello.", stopped: false }, "trn_1", 400);
  figures.add("trn_1", { tokens: 4, seconds: 1 });
  expect(figures.byTurn.get("trn_1")?.firstSeconds).toBe(0.4);
  figures.follow({ type: "text:streamed", delta: "On." }, "trn_2", 9_000);
  figures.add("trn_2", { tokens: 4, seconds: 1 });
  expect(figures.byTurn.get("trn_2")?.firstSeconds).toBeNull();
});

test("a turn that ended without a word lengthens no later one", () => {
  const figures = new TurnFigures("cnv_1", keptTexts());
  figures.send(0);
  figures.follow({ type: "turn:ended", ending: "failed", label: "words" }, "trn_1", 500);
  figures.follow({ type: "assistant:said", content: "Hello.", stopped: false }, "trn_2", 60_000);
  expect(figures.byTurn.size).toBe(0);
});

test("a page that loads again, and another tab, have the figures and the gauge that were there", () => {
  const kept = keptTexts();
  const figures = new TurnFigures("cnv_1", kept);
  expect(figures.recall()).toBeNull();
  figures.send(0);
  figures.follow({ type: "tokens:counted", used: 120, limit: 4_096, exact: true }, "trn_1", 100);
  figures.follow({ type: "text:streamed", delta: "There" }, "trn_1", 2_000);
  figures.add("trn_1", { tokens: 20, seconds: 2 });
  const other = new TurnFigures("cnv_2", kept);
  expect(other.recall()).toBeNull();
  other.follow({ type: "tokens:counted", used: 30, limit: 2_048, exact: false }, "trn_2", 100);
  other.add("trn_2", { tokens: 3, seconds: 1 });

  const again = new TurnFigures("cnv_1", kept);
  expect(again.recall()).toEqual({ used: 120, limit: 4_096, exact: true });
  expect(again.byTurn.get("trn_1")).toEqual({ tokens: 20, seconds: 2, firstSeconds: 2 });
  expect(again.byTurn.get("trn_2")).toEqual({ tokens: 3, seconds: 1, firstSeconds: null });
  expect(new TurnFigures("cnv_2", kept).recall()).toEqual({ used: 30, limit: 2_048, exact: false });
});

test("the oldest figures give way, and what is no figure is passed over", () => {
  const kept = keptTexts();
  const figures = new TurnFigures("cnv_1", kept);
  for (let number = 1; number <= 201; number++) figures.add(`trn_${number}`, { tokens: 1, seconds: 1 });
  const again = new TurnFigures("cnv_1", kept);
  again.recall();
  expect([again.byTurn.has("trn_1"), again.byTurn.has("trn_2"), again.byTurn.size]).toEqual([false, true, 200]);
  for (const text of [
    "{",
    "{}",
    '["trn_1", [1, 2, 3]]',
    '[["trn_1", [1, 2]], ["trn_2", ["1", 2, 3]], [3, [1, 2, 3]], null]',
  ]) {
    kept.write("figures", text);
    expect(again.recall()).toBeNull();
    expect(again.byTurn.size).toBe(0);
  }
});
