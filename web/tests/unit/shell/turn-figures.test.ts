import { expect, test } from "vitest";
import { TurnFigures } from "../../../src/features/shell/turn-figures.ts";

test("a turn of several requests took all of their tokens, and its first words came once, after the message was sent", () => {
  const figures = new TurnFigures();
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
  const figures = new TurnFigures();
  figures.send(0);
  figures.follow({ type: "assistant:said", content: "Hello.", stopped: false }, "trn_1", 400);
  figures.add("trn_1", { tokens: 4, seconds: 1 });
  expect(figures.byTurn.get("trn_1")?.firstSeconds).toBe(0.4);
  figures.follow({ type: "text:streamed", delta: "On." }, "trn_2", 9_000);
  figures.add("trn_2", { tokens: 4, seconds: 1 });
  expect(figures.byTurn.get("trn_2")?.firstSeconds).toBeNull();
});

test("a turn that ended without a word lengthens no later one", () => {
  const figures = new TurnFigures();
  figures.send(0);
  figures.follow({ type: "turn:ended", ending: "failed", label: "words" }, "trn_1", 500);
  figures.follow({ type: "assistant:said", content: "Hello.", stopped: false }, "trn_2", 60_000);
  expect(figures.byTurn.size).toBe(0);
});
