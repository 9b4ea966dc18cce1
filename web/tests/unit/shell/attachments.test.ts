import { describe, expect, test } from "vitest";
import { withoutAttachedBytes } from "../../../src/agent/attached.ts";
import type { Message } from "../../../src/agent/messages.ts";
import { type GivenFile, MOST_FILES, PendingFiles } from "../../../src/features/shell/attachments.ts";
import type { ToolRequest, ToolResult } from "../../../src/protocol/generated.ts";
import { ok, resultOf } from "../agent/scripted.ts";
import { start, until } from "./open-workspace.ts";
import { ScriptedClient } from "./scripted-client.ts";

const file = (name: string, text: string | Uint8Array, size?: number): GivenFile => {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return { name, size: size ?? bytes.length, arrayBuffer: async () => bytes.slice().buffer };
};

function keeping() {
  const texts = new Map<string, string>();
  return {
    read: (name: string) => texts.get(name) ?? "",
    write: (name: string, text: string) => void texts.set(name, text),
  };
}

describe("files for the next message", () => {
  test("are kept over a reload, in their order, and can be taken away", async () => {
    const kept = keeping();
    const files = new PendingFiles(kept);
    expect(await files.add("cnv_1", [file("a.csv", "x;y\n"), file("", "é")])).toBeNull();
    const again = new PendingFiles(kept);
    expect(again.of("cnv_1")).toEqual([
      { name: "a.csv", bytes: 4, data: btoa("x;y\n") },
      { name: "unnamed", bytes: 2, data: "w6k=" },
    ]);
    again.remove("cnv_1", 0);
    expect(again.of("cnv_1").map(({ name }) => name)).toEqual(["unnamed"]);
    again.move("cnv_1", "cnv_2");
    expect(new PendingFiles(kept).of("cnv_2")).toHaveLength(1);
    expect(new PendingFiles(kept).of("cnv_1")).toEqual([]);
  });

  test.each([
    [file("big.txt", "", 200_000), "big.txt is too large"],
    [file("a.png", new Uint8Array([0x89, 0x50])), "a.png is not text"],
    [file("nul.txt", "a\0b"), "nul.txt is not text"],
  ])("what cannot be attached is said", async (given, problem) => {
    const files = new PendingFiles(keeping());
    expect(await files.add(null, [given])).toContain(problem);
    expect(files.of(null)).toEqual([]);
  });

  test("there are only so many, and whatever else stands in the storage is none", async () => {
    const kept = keeping();
    const files = new PendingFiles(kept);
    const many = Array.from({ length: MOST_FILES + 1 }, (_, index) => file(`${index}`, "x"));
    expect(await files.add(null, many)).toContain("At most");
    expect(files.of(null)).toHaveLength(MOST_FILES);
    kept.write("files:cnv_1", '[1, null, {"name": 2}]');
    kept.write("files:cnv_2", "{");
    expect(new PendingFiles(kept).of("cnv_1")).toEqual([]);
    expect(new PendingFiles(kept).of("cnv_2")).toEqual([]);
  });
});

test("an exported conversation is attached as people read it, in a new one", async () => {
  const exported = {
    format: "countersign.conversation.v1",
    exportedAt: "2026-11-21T10:00:00.000Z",
    conversation: { id: "cnv_9", title: "Garden" },
    messages: [{ role: "user", content: "which seeds?" }],
    calls: [],
  };
  const { workspace } = await start(new ScriptedClient(), [], "cnv_1");
  await workspace.library.import([]);
  expect(workspace.getState().currentId).toBe("cnv_1");
  await workspace.library.import([file("conversation-cnv_9.json", JSON.stringify(exported))]);
  const [attached] = workspace.getState().files;
  expect(workspace.getState().currentId).toBeNull();
  expect(attached?.name).toBe("Garden.md");
  expect(atob(attached?.data ?? "")).toContain("## You\n\nwhich seeds?");
  await workspace.library.import([file("other.json", '{"format":"countersign.conversation.v1"}')]);
  expect(workspace.getState().files.at(-1)?.name).toBe("other.json");
});

describe("a message with files", () => {
  test("sends them ahead as calls of the person's, each in a turn of its own, and tells the model without their bytes", async () => {
    const invoked: ToolRequest[] = [];
    const client = new ScriptedClient({
      "tools/invoke": (request: ToolRequest) => {
        invoked.push(request);
        return resultOf(request.call.id, ok("a.csv, 4 bytes:\nx;y\n"));
      },
    });
    const { workspace } = await start(client, ['{"answer":"Two columns."}']);
    await workspace.attach([file("a.csv", "x;y\n")]);
    expect(workspace.getState().files).toHaveLength(1);
    expect(await workspace.submit("how many columns?")).toBe(true);
    await until(workspace, ({ busy }) => !busy);
    expect(workspace.getState().files).toEqual([]);
    expect(invoked).toMatchObject([
      { call: { name: "read_attachment", arguments: { name: "a.csv", data: btoa("x;y\n") } } },
    ]);
    expect(invoked[0]).not.toHaveProperty("model");
    const said = client
      .paramsOf("turns/begin")
      .map((each) => (each as { message: { content: string } }).message.content);
    expect(said).toEqual(["Attached a.csv", "how many columns?"]);
  });

  test("is not sent where one was refused, and the file stays", async () => {
    const client = new ScriptedClient({
      "tools/invoke": ({ call }: ToolRequest): ToolResult =>
        resultOf(call.id, { ...ok(""), outcome: "refusedByPolicy", reason: "forbidden" }),
    });
    const { workspace } = await start(client);
    await workspace.attach([file("a.csv", "x;y\n")]);
    expect(await workspace.submit("how many columns?")).toBe(false);
    expect(workspace.getState().problem).toContain("was not taken in");
    expect(workspace.getState().files).toHaveLength(1);
    workspace.removeFile(0);
    expect(workspace.getState().files).toEqual([]);
  });

  test("what a model is told of an attachment has its name and none of its bytes", () => {
    const call = { id: "c", name: "read_attachment", arguments: { name: "a.csv", data: "eDt5Cg==" } };
    const messages: Message[] = [
      { role: "user", turnId: "t", content: "Attached a.csv" },
      { role: "assistant", turnId: "t", content: "", toolCalls: [call, { ...call, id: "d", name: "other" }] },
      { role: "tool", turnId: "t", call, result: ok("x;y") },
    ];
    const [, assistant, tool] = withoutAttachedBytes(messages);
    expect(assistant).toMatchObject({
      toolCalls: [{ arguments: { name: "a.csv" } }, { arguments: { data: "eDt5Cg==" } }],
    });
    expect(JSON.stringify(tool)).not.toContain("eDt5Cg==");
  });
});
