// @vitest-environment jsdom
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import {
  type ComparedPart,
  compareBranches,
  countDifferences,
} from "../../../src/features/shell/compare/compare-branches.ts";
import type { ConversationExport, StoredMessage, ToolResult } from "../../../src/protocol/generated.ts";
import { ok, resultOf } from "../agent/scripted.ts";
import { expectAccessible, openShell, prepareShell } from "./open-shell.tsx";
import { conversationOf, ScriptedClient } from "./scripted-client.ts";

prepareShell();

const at = "2026-11-21T10:00:00.000Z";

const said = (role: "user" | "assistant", turnId: string, content: string): StoredMessage => ({
  role,
  content,
  turnId,
  provenance: "claimed",
  at,
});

/** A call and what came of it. */
function called(turnId: string, path: string, content: string) {
  const call = { id: `call_${turnId}_${path}`, name: "read_file", arguments: { path } };
  const result: ToolResult = resultOf(call.id, ok(content));
  return {
    said: { ...said("assistant", turnId, ""), toolCalls: [call] },
    told: {
      ...said("user", turnId, content),
      role: "tool" as const,
      toolCallId: call.id,
      provenance: "gateway" as const,
    },
    view: { call, turnId, state: "closed" as const, receivedAt: at, result },
  };
}

function branch(id: string, messages: StoredMessage[], calls: ConversationExport["calls"]): ConversationExport {
  return {
    format: "countersign.conversation.v1",
    exportedAt: at,
    conversation: { ...conversationOf(id, "Garden"), turnCount: 2 },
    messages,
    calls,
  };
}

const [a, b, c, d] = [
  called("t2", "a.txt", "red"),
  called("t2", "b.txt", "one"),
  called("t3", "a.txt", "blue"),
  called("t3", "c.txt", "two"),
] as const;
const before = [said("user", "t1", "hello"), said("assistant", "t1", "Hello.")];
const left = branch(
  "cnv_1",
  [
    ...before,
    said("user", "t2", "colour?"),
    a.said,
    a.told,
    b.said,
    b.told,
    said("assistant", "t2", "**Red.**\nSure."),
  ],
  [a.view, b.view],
);
const right = branch(
  "cnv_2",
  [
    ...before,
    said("user", "t3", "colour?"),
    c.said,
    c.told,
    d.said,
    d.told,
    said("user", "t3", "also say why"),
    said("assistant", "t3", "Blue.\nSure."),
    said("user", "t4", "thanks"),
  ],
  [c.view, d.view],
);

test("branches are compared turn by turn: what was said line by line, and each call with its twin", () => {
  const turns = compareBranches(left, right, 1);
  expect(turns).toHaveLength(2);
  const shown = (side: "left" | "right") =>
    turns[0]?.[side]?.map((part) =>
      part.kind === "call"
        ? [part.card.call.arguments.path, part.difference]
        : part.lines.map(({ text, difference }) => `${difference}: ${text}`),
    );
  expect(shown("left")).toEqual([
    ["same: colour?"],
    ["a.txt", "result"],
    ["b.txt", "only"],
    ["only: **Red.**", "same: Sure."],
  ]);
  expect(shown("right")).toEqual([
    ["same: colour?"],
    ["a.txt", "result"],
    ["c.txt", "only"],
    ["only: also say why"],
    ["only: Blue.", "same: Sure."],
  ]);
  expect(turns[1]?.left).toBeNull();
  expect(turns.map(countDifferences)).toEqual([7, 1]);
  expect(compareBranches(left, left, 1).map(countDifferences)).toEqual([0]);
  expect(compareBranches(left, right, 9)).toEqual([]);
});

test("an answer is compared by what can be shown by itself, and a person's text by its lines", () => {
  const [one, other] = [
    "**Red** and `a`.\n\n- first\n- second\n\n```js\n\nx = 1;\n```\n",
    "# Title\n\n- first\n- *third*\n",
  ];
  const sides = [one, other].map((text, at) =>
    branch(`cnv_${at}`, [...before, said("user", `u${at}`, "- mine\n- yours"), said("assistant", `u${at}`, text)], []),
  ) as [ConversationExport, ConversationExport];
  const [turn] = compareBranches(...sides, 1);
  const lines = (side: readonly ComparedPart[] | null) => side?.map((part) => part.kind === "said" && part.lines);
  expect(lines(turn?.left ?? null)).toEqual([
    [
      { text: "- mine", difference: "same" },
      { text: "- yours", difference: "same" },
    ],
    [
      { text: "**Red** and `a`.", difference: "only" },
      { text: "- first", difference: "same" },
      { text: "- second", difference: "only" },
      { text: "```js\n\nx = 1;\n```", difference: "only" },
    ],
  ]);
  expect(lines(turn?.right ?? null)?.[1]).toEqual([
    { text: "# Title", difference: "only" },
    { text: "- first", difference: "same" },
    { text: "- *third*", difference: "only" },
  ]);
});

test("two branches are shown beside each other from the message where they fork", async () => {
  const fork = {
    ...right.conversation,
    parentId: "cnv_1",
    inheritedTurns: 1,
    turnCount: 2,
    createdAt: "2026-11-22T10:00:00.000Z",
  };
  const client = new ScriptedClient({
    "conversations/list": () => ({ conversations: [left.conversation, fork] }),
    "conversations/open": () => ({ conversation: left.conversation, messages: left.messages }),
    "conversations/export": ({ conversationId }: { conversationId: string }) =>
      conversationId === "cnv_1" ? left : right,
  });
  const { user } = openShell(client);
  const list = await screen.findByRole("navigation", { name: "Conversations" });
  await user.click((await within(list).findAllByRole("button", { name: /^Garden/ }))[0] as HTMLElement);
  await user.click(await screen.findByRole("button", { name: "Compare" }));
  const dialog = await screen.findByRole("dialog", { name: "Compare branches" });
  await within(dialog).findByText("8 parts differ.");
  const [ours, theirs] = [
    within(dialog).getByRole("region", { name: "This branch (1), turn 2" }),
    within(dialog).getByRole("region", { name: "Branch 2, turn 2" }),
  ];
  expect(ours.textContent).toContain("Only here: Red.");
  expect(theirs.textContent).toContain("Only here: Blue.");
  expect(within(dialog).getByText("It ends before this turn.")).toBeTruthy();
  await expectAccessible();
  await user.click(within(dialog).getByRole("button", { name: "Close" }));
  expect(screen.queryByRole("dialog", { name: "Compare branches" })).toBeNull();
});
