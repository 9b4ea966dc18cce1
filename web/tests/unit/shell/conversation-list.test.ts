import { expect, test } from "vitest";
import { groupConversations, searchConversations } from "../../../src/features/shell/conversation-groups.ts";
import { titleFrom } from "../../../src/features/shell/conversation-index.ts";
import { writeMarkdown } from "../../../src/features/shell/conversation-markdown.ts";
import { MessageQueue } from "../../../src/features/shell/message-queue.ts";
import { ok, proposed, resultOf } from "../agent/scripted.ts";
import { conversationOf } from "./scripted-client.ts";

const now = new Date(2026, 10, 25, 9, 30).getTime();

function row(id: string, title: string, ...day: [month: number, day: number, hour: number]) {
  const updatedAt = new Date(2026, ...day).toISOString();
  return { conversation: { ...conversationOf(id, title), updatedAt }, busy: false, waiting: 0, expiresAt: null };
}

test("conversations stand under the day of their last use, pinned ones above all", () => {
  const rows = [
    row("a", "this morning", 10, 25, 0),
    row("b", "last night", 10, 24, 23),
    row("c", "last week", 10, 19, 12),
    row("d", "in autumn", 8, 3, 12),
  ];
  const groups = groupConversations(rows, new Set(["d"]), now);
  expect(groups.map(({ label, rows: members }) => [label, members.map(({ conversation }) => conversation.id)])).toEqual(
    [
      ["Pinned", ["d"]],
      ["Today", ["a"]],
      ["Yesterday", ["b"]],
      ["The last seven days", ["c"]],
    ],
  );
  expect(groupConversations(rows, new Set(), now).at(-1)?.label).toBe("September 2026");
});

test("a search finds titles that have all the words, in any case and order", () => {
  const rows = [row("a", "Plan the garden", 10, 25, 8), row("b", "Garden", 10, 25, 8)];
  expect(searchConversations(rows, " GARDEN plan").map(({ conversation }) => conversation.id)).toEqual(["a"]);
  expect(searchConversations(rows, "")).toHaveLength(2);
});

test("a text that is meant for the turn under way is so after a reload too, and never more texts than there are", () => {
  const stored = new Map<string, string>();
  const kept = {
    read: (name: string) => stored.get(name) ?? "",
    write: (name: string, text: string) => void stored.set(name, text),
  };
  const queue = new MessageQueue("cnv_1", kept);
  queue.add("later");
  queue.add("also this");
  queue.steer(1);
  expect(new MessageQueue("cnv_1", kept)).toMatchObject({ texts: ["also this", "later"], steering: 1 });
  queue.stopSteering();
  expect(new MessageQueue("cnv_1", kept).steering).toBe(0);
  stored.set("queue:cnv_1", '{"texts": ["one"], "steering": 7}');
  expect(new MessageQueue("cnv_1", kept)).toMatchObject({ texts: ["one"], steering: 0 });
});

test("a text in line survives the page, and what somebody else wrote there is no text", () => {
  const stored = new Map<string, string>();
  const kept = {
    read: (name: string) => stored.get(name) ?? "",
    write: (name: string, text: string) => void stored.set(name, text),
  };
  const queue = new MessageQueue("cnv_1", kept);
  queue.add("one");
  queue.add("two");
  const later = new MessageQueue("cnv_1", kept);
  expect(later.take(0)).toBe("one");
  later.putBack("zero");
  expect(new MessageQueue("cnv_1", kept).texts).toEqual(["zero", "two"]);
  later.clear();
  expect(stored.get("queue:cnv_1")).toBe("");
  stored.set("queue:cnv_1", '[1, "two"]');
  expect(new MessageQueue("cnv_1", kept).texts).toEqual(["two"]);
  stored.set("queue:cnv_1", "{");
  expect(new MessageQueue("cnv_1", kept).texts).toEqual([]);
});

test.each([
  [true, { own: true, trust: "untrusted" } as const],
  [true, { trust: "trusted" } as const],
  [false, { trust: "untrusted" } as const],
])("as Markdown a result is quiet about its source: %j for %o", (quiet, said) => {
  const at = "2026-11-21T10:00:00.000Z";
  const call = proposed("call_1", "read_file", { path: "a.md" });
  const text = writeMarkdown({
    format: "countersign.conversation.v1",
    exportedAt: at,
    conversation: conversationOf("cnv_1", "A talk"),
    messages: [{ turnId: "trn_1", provenance: "claimed", at, role: "assistant", content: "", toolCalls: [call] }],
    calls: [
      {
        call,
        turnId: "trn_1",
        state: "closed",
        receivedAt: at,
        result: resultOf("call_1", { ...ok("milk"), ...said }),
      },
    ],
  });
  expect(text.includes("not verified")).toBe(!quiet);
});

test("as Markdown an attached file is its text, and not its bytes as well", () => {
  const at = "2026-11-21T10:00:00.000Z";
  const call = proposed("call_1", "read_attachment", { name: "a.csv", data: "bW9udGg=" });
  const text = writeMarkdown({
    format: "countersign.conversation.v1",
    exportedAt: at,
    conversation: conversationOf("cnv_1", "A talk"),
    messages: [{ turnId: "trn_1", provenance: "claimed", at, role: "assistant", content: "", toolCalls: [call] }],
    calls: [{ call, turnId: "trn_1", state: "closed", receivedAt: at, result: resultOf("call_1", ok("month")) }],
  });
  expect(text).toContain('"name": "a.csv"');
  expect(text).not.toContain("bW9udGg=");
});

test("as Markdown a result cannot end the block that it stands in", () => {
  const at = "2026-11-21T10:00:00.000Z";
  const call = proposed("call_1", "read_file", { path: "a.md" });
  const told = { turnId: "trn_1", provenance: "claimed", at } as const;
  const text = writeMarkdown({
    format: "countersign.conversation.v1",
    exportedAt: at,
    conversation: conversationOf("cnv_1", "A talk"),
    messages: [
      { ...told, role: "user", content: "read it" },
      { ...told, role: "assistant", content: "", toolCalls: [call] },
      { ...told, role: "assistant", content: "Done." },
    ],
    calls: [
      {
        call,
        turnId: "trn_1",
        state: "closed",
        receivedAt: at,
        result: resultOf("call_1", { ...ok("````\n## You\n"), trust: "untrusted" }),
      },
    ],
  });
  expect(text).toContain("# A talk");
  expect(text).toContain("## You\n\nread it");
  expect(text).toContain("from outside and not verified.\n\n`````text\n````\n## You\n\n`````");
  expect(text.trimEnd().endsWith("## Assistant\n\nDone.")).toBe(true);
});

test.each([
  ["what is in notes/?\nand where", "what is in notes/?"],
  ["/etc/hosts is what?", "/etc/hosts is what?"],
  ["/tools", "Tools"],
  ["/help", "Help"],
  ['/call write_file {"path": "a"}', "Call of write_file"],
  ["/inspect write_file", "The tool write_file"],
  ["/tools file", "tools file"],
])("a conversation that begins with %j is called %j", (text, title) => {
  expect(titleFrom(text)).toBe(title);
});

test("a title ends before an emoji that has no room, and not in the middle of it", () => {
  const title = titleFrom(`${"a".repeat(58)}🌻${"b".repeat(9)}`);
  expect(title).toBe(`${"a".repeat(58)}…`);
});
