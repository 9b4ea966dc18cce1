import { describe, expect, test } from "vitest";
import { withoutAttachedBytes } from "../../../src/agent/attached.ts";
import type { Message } from "../../../src/agent/messages.ts";
import { type GivenFile, MOST_FILES, PendingFiles } from "../../../src/features/shell/attachments.ts";
import type { ToolRequest, ToolResult } from "../../../src/protocol/generated.ts";
import { largeModel, ok, resultOf } from "../agent/scripted.ts";
import { start, until } from "./open-workspace.ts";
import { ScriptedClient } from "./scripted-client.ts";

const file = (name: string, text: string | Uint8Array, size?: number, type = ""): GivenFile => {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return { name, type, size: size ?? bytes.length, arrayBuffer: async () => bytes.slice().buffer };
};

const shrink = async (name: string, bytes: Uint8Array<ArrayBuffer>) =>
  bytes.length > 20 ? `${name} is damaged.` : { bytes: bytes.slice(0, 3), mediaType: "image/jpeg" };
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]);
const WEBP = new TextEncoder().encode("RIFF----WEBPVP8 ");

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
    const files = new PendingFiles(kept, shrink);
    expect(await files.add("cnv_1", [file("a.csv", "x;y\n"), file("", "é")])).toBeNull();
    const again = new PendingFiles(kept, shrink);
    expect(again.of("cnv_1")).toEqual([
      { name: "a.csv", bytes: 4, data: btoa("x;y\n") },
      { name: "unnamed", bytes: 2, data: "w6k=" },
    ]);
    again.remove("cnv_1", 0);
    expect(again.of("cnv_1").map(({ name }) => name)).toEqual(["unnamed"]);
    again.move("cnv_1", "cnv_2");
    expect(new PendingFiles(kept, shrink).of("cnv_2")).toHaveLength(1);
    expect(new PendingFiles(kept, shrink).of("cnv_1")).toEqual([]);
  });

  test("are drawn anew where they are images, and text where they are drawings", async () => {
    const kept = keeping();
    const files = new PendingFiles(kept, shrink);
    const given = [
      file("a.png", PNG, 10, "image/png"),
      file("b", WEBP, 16, "image/x"),
      file("c.svg", "<svg/>", 6, "image/svg+xml"),
    ];
    expect(await files.add(null, given)).toBeNull();
    expect(new PendingFiles(kept, shrink).of(null)).toEqual([
      { name: "a.png", bytes: 3, data: btoa("\x89PN"), mediaType: "image/jpeg" },
      { name: "b", bytes: 3, data: btoa("RIF"), mediaType: "image/jpeg" },
      { name: "c.svg", bytes: 6, data: btoa("<svg/>") },
    ]);
    kept.write("files:cnv_9", '[{"name":"x","bytes":1,"data":"","mediaType":"text/html"}]');
    expect(new PendingFiles(kept, shrink).of("cnv_9")).toEqual([]);
  });

  test.each([
    [file("big.txt", "", 200_000), "big.txt is too large"],
    [file("a.png", new Uint8Array([0x89, 0x50])), "a.png is not text"],
    [file("a.png", "<svg/>", 6, "image/png"), "a.png is no PNG, JPEG or WebP image"],
    [file("a.gif", "GIF89a", 6, "image/gif"), "a.gif is no PNG, JPEG or WebP image"],
    [
      file("a.jpg", new Uint8Array(30).fill(0xff, 0, 1).fill(0xd8, 1, 2).fill(0xff, 2, 3), 30, "image/jpeg"),
      "a.jpg is damaged",
    ],
    [file("huge.png", PNG, 30_000_000, "image/png"), "huge.png is too large"],
    [file("nul.txt", "a\0b"), "nul.txt is not text"],
  ])("what cannot be attached is said", async (given, problem) => {
    const files = new PendingFiles(keeping(), shrink);
    expect(await files.add(null, [given])).toContain(problem);
    expect(files.of(null)).toEqual([]);
  });

  test("there are only so many, and whatever else stands in the storage is none", async () => {
    const kept = keeping();
    const files = new PendingFiles(kept, shrink);
    const many = Array.from({ length: MOST_FILES + 1 }, (_, index) => file(`${index}`, "x"));
    expect(await files.add(null, many)).toContain("At most");
    expect(files.of(null)).toHaveLength(MOST_FILES);
    kept.write("files:cnv_1", '[1, null, {"name": 2}]');
    kept.write("files:cnv_2", "{");
    expect(new PendingFiles(kept, shrink).of("cnv_1")).toEqual([]);
    expect(new PendingFiles(kept, shrink).of("cnv_2")).toEqual([]);
  });
});

test("an exported conversation is attached as people read it", async () => {
  const exported = {
    format: "countersign.conversation.v1",
    exportedAt: "2026-11-21T10:00:00.000Z",
    conversation: { id: "cnv_9", title: "Garden" },
    messages: [{ role: "user", content: "which seeds?" }],
    calls: [],
  };
  const { workspace } = await start(new ScriptedClient(), [], null);
  await workspace.attach([file("conversation-cnv_9.json", JSON.stringify(exported))]);
  const [attached] = workspace.getState().files;
  expect(attached?.name).toBe("Garden.md");
  expect(atob(attached?.data ?? "")).toContain("## You\n\nwhich seeds?");
  await workspace.attach([file("other.json", '{"format":"countersign.conversation.v1"}')]);
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

  test.each([
    { seesImages: undefined, tier: "native" as const, isSent: false },
    { seesImages: true, tier: "chained" as const, isSent: false },
    { seesImages: true, tier: "native" as const, isSent: true },
  ])("with an image is begun only where the model is shown it: %o", async ({ seesImages, tier, isSent }) => {
    const { seesImages: _, ...blind } = largeModel;
    const model = { ...blind, tier, ...(seesImages && { seesImages }) };
    const client = new ScriptedClient({
      "session/describe": () => ({ models: [model], consoleOrigin: "" }),
      "tools/invoke": ({ call }: ToolRequest) => resultOf(call.id, ok("a.png, 3 bytes")),
    });
    const { workspace } = await start(client, ["A seed."]);
    await workspace.attach([file("a.png", PNG, 10, "image/png")]);
    expect(await workspace.submit("what is that?")).toBe(isSent);
    await until(workspace, ({ busy }) => !busy);
    expect(client.paramsOf("turns/begin")).toHaveLength(isSent ? 2 : 0);
    expect(workspace.getState().files).toHaveLength(isSent ? 0 : 1);
    if (!isSent) expect(workspace.getState().problem).toContain("sees no images");
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
