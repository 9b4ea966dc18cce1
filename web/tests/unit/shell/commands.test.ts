import { describe, expect, test } from "vitest";
import type { ToolRequest } from "../../../src/protocol/generated.ts";
import { ok, resultOf, smallModel } from "../agent/scripted.ts";
import { start, until } from "./open-workspace.ts";
import { conversationOf, description, ScriptedClient } from "./scripted-client.ts";

describe("commands", () => {
  test("/tools and /inspect show what the gateway describes, and ask no model", async () => {
    const client = new ScriptedClient();
    const { workspace } = await start(client);
    await workspace.submit("/tools");
    await workspace.submit("/inspect read_file");
    expect(workspace.getState().log.entries).toMatchObject([
      { kind: "panel", panel: { kind: "tools" } },
      { kind: "panel", panel: { kind: "tool", tool: { name: "read_file" } } },
    ]);
    expect(client.paramsOf("turns/begin")).toEqual([]);
    expect(await workspace.submit("/inspect nothing")).toBe(false);
    expect(workspace.getState().problem).toContain("nothing");
  });

  test("/model shows the models, and with a name takes that one for the conversation", async () => {
    const other = { ...smallModel, id: "sha256:other", displayName: "Other 7B" };
    const client = new ScriptedClient({
      "session/describe": () => ({
        ...description,
        models: [smallModel, other, { ...other, id: "sha256:third", displayName: "Other 1B" }],
        missingModels: [{ name: "away", why: "it does not answer" }],
      }),
    });
    const { workspace } = await start(client);
    const panel = () => workspace.getState().log.entries.at(-1);
    expect(await workspace.submit("/model")).toBe(true);
    expect(panel()).toMatchObject({ panel: { kind: "models", chosenId: smallModel.id, missing: [{ name: "away" }] } });
    expect(await workspace.submit("/model 7b")).toBe(true);
    expect(panel()).toMatchObject({ panel: { chosenId: "sha256:other" } });
    expect(workspace.getState().model).toMatchObject({ id: "sha256:other" });
    expect(await workspace.submit("/model sha256:third")).toBe(true);
    for (const [typed, problem] of [
      ["/model other", "Which one is meant with `other`: `Other 7B`, `Other 1B`?"],
      ["/model nothing", "There is no model `nothing` here"],
      ["/model away", "away: not available, it does not answer"],
    ] as const) {
      expect(await workspace.submit(typed)).toBe(false);
      expect(workspace.getState().problem).toContain(problem);
    }
    expect(workspace.getState().model).toMatchObject({ id: "sha256:third" });
    expect(client.paramsOf("turns/begin")).toEqual([]);
  });

  test("a conversation that began with a command to the page is named after the first question", async () => {
    const rename = ({ title }: { title: string }) => ({ conversation: conversationOf("cnv_new", title) });
    const client = new ScriptedClient({ "conversations/rename": rename });
    const { workspace } = await start(client, ['{"answer":"Hi."}', '{"answer":"Bye."}']);
    await workspace.submit("/help");
    await workspace.submit("/tools");
    expect(workspace.getState().title).toBe("Help");
    await workspace.submit("which seeds?");
    await until(workspace, ({ busy }) => !busy);
    expect(workspace.getState().title).toBe("which seeds?");
    await workspace.submit("and when?");
    expect(client.paramsOf("conversations/rename")).toHaveLength(1);
  });

  test("a title that the person gave stays, and one that cannot be changed keeps nobody from asking", async () => {
    const rename = ({ title }: { title: string }) => ({ conversation: conversationOf("cnv_new", title) });
    const client = new ScriptedClient({ "conversations/rename": rename });
    const { workspace } = await start(client, ['{"answer":"Hi."}']);
    await workspace.submit("/help");
    await workspace.library.rename("cnv_new", "Garden");
    await workspace.submit("which seeds?");
    expect(workspace.getState().title).toBe("Garden");

    const stuck = await start(new ScriptedClient(), ['{"answer":"Hi."}']);
    await stuck.workspace.submit("/help");
    expect(await stuck.workspace.submit("which seeds?")).toBe(true);
  });

  test("/call goes through the gate as a turn of its own", async () => {
    const client = new ScriptedClient({ "tools/invoke": ({ call }: ToolRequest) => resultOf(call.id, ok("a.txt")) });
    const { workspace } = await start(client);
    expect(await workspace.submit('/call list_directory {"path":"."}')).toBe(true);
    await until(workspace, ({ busy, log }) => !busy && log.calls.call_1?.phase === "closed");
    expect(client.paramsOf("tools/invoke")).toMatchObject([
      { call: { name: "list_directory", arguments: { path: "." } } },
    ]);
    expect(client.paramsOf("inference/token")).toEqual([]);
  });

  test("a mistake is explained and kept in the box", async () => {
    const { workspace } = await start(new ScriptedClient());
    expect(await workspace.submit("/call x {oops")).toBe(false);
    expect(workspace.getState().problem).toContain("JSON object");
  });

  test("/exit signs out and ends the connection", async () => {
    const client = new ScriptedClient();
    const { workspace } = await start(client);
    await workspace.submit("/exit");
    expect(client.seen.at(-1)?.method).toBe("POST /logout");
    expect(workspace.getState().connection.phase).toBe("ended");
  });
});
