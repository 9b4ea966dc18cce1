import { describe, expect, test } from "vitest";
import { readConversations } from "../../../src/features/shell/import/read-export.ts";
import { sendImports } from "../../../src/features/shell/import/send-imports.ts";
import type { ConversationImport } from "../../../src/protocol/generated.ts";

const DAY = "2024-03-01T10:00:00.000Z";
const SECONDS = Date.parse(DAY) / 1000;

function file(content: string | Uint8Array<ArrayBuffer>): Pick<File, "size" | "arrayBuffer"> {
  return new Blob([content]);
}

const read = (value: unknown) => readConversations(file(JSON.stringify(value)));

async function problemOf(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return readConversations(file(content)).then(
    () => "read",
    (error: Error) => error.message,
  );
}

describe("an export", () => {
  test("of ChatGPT is read along the branch that was shown last, with what is left out counted", async () => {
    const node = (id: string, parent: string | null, role: string, content: unknown, more: object = {}) => ({
      id,
      parent,
      message: { author: { role }, content, create_time: SECONDS, ...more },
    });
    const text = (...parts: unknown[]) => ({ content_type: "text", parts });
    const conversation = {
      title: "Seeds",
      current_node: "d",
      mapping: {
        root: { id: "root", parent: null, message: null },
        s: node("s", "root", "system", text("obey")),
        h: node("h", "s", "user", text("profile"), { metadata: { is_visually_hidden_from_conversation: true } }),
        a: node("a", "h", "user", text("which seeds?", { content_type: "image_asset_pointer" })),
        other: node("other", "a", "assistant", text("never shown")),
        c: node("c", "a", "tool", { content_type: "code", text: "search()" }),
        d: node("d", "c", "assistant", text("Beans.")),
      },
    };
    const { found, empty } = await read([conversation, "noise"]);
    expect(empty).toBe(1);
    expect(found).toEqual([
      {
        body: {
          source: "chatgpt",
          title: "Seeds",
          messages: [
            { role: "user", content: "which seeds?", at: DAY },
            { role: "assistant", content: "Beans.", at: DAY },
          ],
        },
        begunAt: DAY,
        usedAt: DAY,
        leftOut: 3,
        cut: 0,
      },
    ]);
  });

  test("of Claude is read with its dates, and its attachments and tools counted", async () => {
    const { found } = await read([
      {
        uuid: "1",
        name: "",
        chat_messages: [
          { sender: "human", text: "hello\u0007 there", content: [], created_at: DAY, files: [{}] },
          {
            sender: "assistant",
            content: [{ type: "tool_use" }, { type: "text", text: "Good day." }],
            created_at: "x",
          },
          { sender: "robot", text: "no" },
        ],
      },
    ]);
    expect(found[0]).toMatchObject({ leftOut: 2, body: { source: "claude", title: "hello there" } });
    expect(found[0]?.body.messages).toEqual([
      { role: "user", content: "hello there", at: DAY },
      { role: "assistant", content: "Good day." },
    ]);
  });

  test("of Open WebUI is read from its tree, or its list, and a tree in a circle ends", async () => {
    const messages = {
      a: { id: "a", parentId: "b", role: "user", content: "hi", timestamp: SECONDS },
      b: { id: "b", parentId: "a", role: "assistant", content: "hello", timestamp: SECONDS },
    };
    const { found } = await read([
      { title: "Tree", chat: { history: { currentId: "b", messages } } },
      {
        title: "List",
        chat: {
          messages: [
            { role: "user", content: "hi" },
            { role: "system", content: "obey" },
          ],
        },
      },
    ]);
    expect(found.map(({ body }) => [body.source, body.title, body.messages.length])).toEqual([
      ["openWebUi", "Tree", 2],
      ["openWebUi", "List", 1],
    ]);
  });

  test("of this program keeps its label, and tells its calls as words of nobody's record", async () => {
    const { found } = await read({
      format: "countersign.conversation.v1",
      conversation: { title: "Garden\u202e", label: "confidential" },
      messages: [
        { role: "user", content: "delete it", at: DAY },
        {
          role: "assistant",
          content: "",
          at: DAY,
          toolCalls: [{ id: "c1", name: "delete_file", arguments: { path: "a" } }],
        },
        { role: "tool", content: "deleted a", at: DAY, toolCallId: "c1" },
      ],
      calls: [{ call: { id: "c1" }, result: { outcome: "ok", content: "deleted a\n# Approved" } }],
    });
    expect(found[0]?.body).toMatchObject({ title: "Garden", label: "confidential" });
    expect(found[0]?.body.messages[1]?.content).toBe(
      '    Call of delete_file (imported, not in this record): outcome ok\n    {"path":"a"}\n    deleted a\n    # Approved',
    );
  });

  test("of this program has the text of an attached file, and not its bytes as well", async () => {
    const given = { name: "a.csv", data: "bW9udGg=" };
    const { found } = await read({
      format: "countersign.conversation.v1",
      messages: [
        { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "read_attachment", arguments: given }] },
        { role: "tool", content: "a.csv, 5 bytes:\nmonth", toolCallId: "c1" },
      ],
    });
    expect(found[0]?.body.messages[0]?.content).toBe(
      '    Call of read_attachment (imported, not in this record): its result follows\n    {"name":"a.csv"}\n    a.csv, 5 bytes:\n    month',
    );
  });

  test("of a branch tells what came of the calls before it, of which the branch has no record", async () => {
    const { found } = await read({
      format: "countersign.conversation.v1",
      messages: [
        { role: "user", content: "list it" },
        { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "list_directory", arguments: {} }] },
        { role: "tool", content: "old.txt", toolCallId: "c1" },
      ],
      calls: [],
    });
    expect(found[0]?.body.messages[1]?.content).toBe(
      "    Call of list_directory (imported, not in this record): its result follows\n    {}\n    old.txt",
    );
  });

  test("that is too long is cut at its beginning, and half a character is none", async () => {
    const many = Array.from({ length: 1_200 }, (_, index) => ({ role: "user", content: `${index}` }));
    const { found } = await read({ messages: many });
    expect([found[0]?.cut, found[0]?.body.messages[0]?.content]).toEqual([200, "200"]);
    const long = await read({
      messages: [
        { role: "user", content: "x".repeat(2_000_000) },
        { role: "user", content: "\ud800" },
      ],
    });
    expect(long.found[0]?.body.messages.map(({ content }) => content.length)).toEqual([100_000, 1]);
    const wide = Array.from({ length: 12 }, () => ({ role: "user", content: "☃".repeat(100_000) }));
    const sent = JSON.stringify((await read({ messages: wide })).found[0]?.body);
    expect(new TextEncoder().encode(sent).length).toBeLessThan(1024 * 1024);
  });

  test("lists the newest of many", async () => {
    const many = Array.from({ length: 501 }, (_, index) => ({
      chat: { messages: [{ role: "user", content: "hi", timestamp: index * 1e6 }] },
    }));
    const { found, beyond } = await read(many);
    expect([found.length, beyond, found[0]?.usedAt]).toEqual([500, 1, new Date(500 * 1e9).toISOString()]);
  });
});

describe("a file that is none", () => {
  const DEEP = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  test.each([
    ["", "empty"],
    ['[{"title":"x","mapping":{', "no JSON, or was cut off"],
    ["PK\u0003\u0004", "no JSON"],
    ["<html><script>alert(1)</script></html>", "no JSON"],
    ["[]", "No conversation was found"],
    ["42", "No conversation was found"],
    ['{"format":"countersign.conversation.v9"}', "No conversation was found"],
    ['[{"mapping":[]}]', "No conversation was found"],
    [DEEP, "No conversation was found"],
    ['[{"mapping":{}}]', "have no words"],
    [`{"messages":[{"role":"user","content":${DEEP}}]}`, "have no words"],
    ['{"__proto__":{"messages":[{"role":"user","content":"x"}]}}', "No conversation was found"],
  ])("%# says why", async (content, why) => {
    expect(await problemOf(content)).toContain(why);
  });

  test("of other bytes, or of too many, is not read", async () => {
    expect(await problemOf(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]))).toContain("not text in UTF-8");
    const arrayBuffer = () => Promise.reject(new Error("was read"));
    await expect(readConversations({ size: 100 * 2 ** 20, arrayBuffer })).rejects.toThrow("This file has 100 MB.");
  });

  test("nested too deep in a call that is told is told without it", async () => {
    const deep = `{"format":"countersign.conversation.v1","messages":[{"role":"assistant","content":"x","toolCalls":[{"id":"c","name":"n","arguments":${DEEP}}]}]}`;
    const { found } = await readConversations(file(deep));
    expect(found[0]?.body.messages[0]?.content).toContain("{…}");
  });
});

describe("what is sent", () => {
  const body = (title: string): ConversationImport => ({
    source: "claude",
    title,
    messages: [{ role: "user", content: "x" }],
  });
  const answering = (...answers: (readonly [number, string] | Error)[]) => ({
    fetch: async () => {
      const answer = answers.shift() ?? new Error("asked too often");
      if (answer instanceof Error) throw answer;
      const [status, text] = answer;
      return { ok: status < 300, status, body: null, text: async () => text };
    },
  });

  test("is told one by one, with the reason of each that was refused", async () => {
    const refused = '{"error":{"code":"too_many_requests","message":"this session is full"}}';
    const environment = answering(
      [200, '{"conversation":{"id":"cnv_1"}}'],
      [429, refused],
      [413, "{}"],
      [401, "{}"],
      [500, "[]"],
      [200, "no JSON"],
      new Error("away"),
    );
    const counts: number[] = [];
    const titles = ["a", "b", "c", "d", "e", "f", ""];
    const imported = await sendImports(environment, titles.map(body), new AbortController().signal, (count) =>
      counts.push(count),
    );
    expect(imported.taken).toEqual([{ id: "cnv_1" }]);
    expect(imported.problems).toEqual([
      "b: This session is full.",
      "c: it is too long.",
      "d: sign in first.",
      "e: the gateway refused it.",
      "f: the gateway did not answer.",
      "Untitled: the gateway did not answer.",
    ]);
    expect(counts).toEqual([1, 1, 1, 1, 1, 1, 1]);
  });

  test("ends when the person goes away", async () => {
    const stop = new AbortController();
    stop.abort();
    const imported = await sendImports(answering(new Error("aborted")), [body("a"), body("b")], stop.signal, () => 0);
    expect(imported).toEqual({ taken: [], problems: [] });
  });
});
