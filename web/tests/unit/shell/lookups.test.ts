import { describe, expect, test } from "vitest";
import { Lookups } from "../../../src/features/shell/lookups.ts";
import { snapshotOf, tools } from "../agent/scripted.ts";
import { pageOf, ScriptedClient } from "./scripted-client.ts";

const entries = [
  { name: "notes", kind: "folder", bytes: 0 },
  { name: "a.txt", kind: "file", bytes: 3 },
];

/** Lookups over a gateway, on a clock that the test moves; nothing is waited for in vain. */
function lookUp(client: ScriptedClient, own = {}) {
  const { environment } = pageOf(client);
  const clock = { now: 0 };
  const forever = () => new Promise<void>(() => undefined);
  const parts = { ...environment, now: () => clock.now, wait: forever, ...own };
  return { lookups: new Lookups(client, parts), clock, kept: environment.kept };
}

const listing = (structured: unknown = { path: ".", entries }) =>
  new ScriptedClient({ "tools/invoke": () => ({ outcome: "ok", structured }) });

describe("what is looked up while typing", () => {
  test("a folder is listed by the published tool, in a turn without a message, once while the answer is fresh", async () => {
    const client = listing();
    const { lookups, clock, kept } = lookUp(client);
    const found = [
      { name: "notes", isFolder: true },
      { name: "a.txt", isFolder: false },
    ];
    expect(await Promise.all([lookups.folder("."), lookups.folder(".")])).toEqual([found, found]);
    expect(client.paramsOf("turns/begin")).toEqual([{ conversationId: "cnv_new" }]);
    expect(client.paramsOf("tools/invoke")).toMatchObject([
      { conversationId: "cnv_new", call: { name: "list_directory", arguments: { path: "." } } },
    ]);
    expect(client.paramsOf("tools/invoke")[0]).not.toHaveProperty("model");
    expect(client.paramsOf("turns/end")).toHaveLength(1);
    expect(kept.read("lookups")).toBe("cnv_new");
    clock.now = 60_000;
    await lookups.folder(".");
    expect(client.paramsOf("tools/invoke")).toHaveLength(2);
    // The conversation is used again.
    expect(client.paramsOf("conversations/open").at(-1)).toEqual({ conversationId: "cnv_new" });
  });

  test("nobody is asked for permission because somebody types", async () => {
    const asking = tools.map((tool) => ({ ...tool, permission: "consent" as const }));
    const client = new ScriptedClient({
      "turns/begin": () => ({ snapshot: { ...snapshotOf("trn_1"), tools: asking } }),
    });
    expect(await lookUp(client).lookups.folder(".")).toEqual([]);
    expect(client.paramsOf("tools/invoke")).toEqual([]);
  });

  test("a listing that does not come in time is withdrawn", async () => {
    const client = new ScriptedClient({
      "tools/invoke": () => new Promise(() => undefined),
      "tools/cancel": () => ({}),
    });
    const { lookups } = lookUp(client, { wait: () => Promise.resolve() });
    expect(await lookups.folder(".")).toEqual([]);
    expect(client.paramsOf("tools/cancel")).toHaveLength(1);
  });

  test("what is refused or says something else gives nothing, and a failure is asked again", async () => {
    expect(await lookUp(listing({ entries: [1, { name: 2 }] })).lookups.folder(".")).toEqual([]);
    expect(await lookUp(listing(null)).lookups.folder(".")).toEqual([]);
    let failing = true;
    const client = new ScriptedClient({
      "tools/describe": () => {
        if (failing) throw new Error("away");
        return { tools };
      },
    });
    const { lookups } = lookUp(client);
    await expect(lookups.tools("cnv_1")).rejects.toThrow("away");
    failing = false;
    expect(await lookups.tools("cnv_1")).toHaveLength(tools.filter(({ local }) => local !== true).length);
  });

  test("a conversation that is gone is replaced", async () => {
    let gone = true;
    const client = new ScriptedClient({
      "conversations/open": ({ conversationId }: { conversationId?: string }) => {
        if (conversationId !== undefined && gone) throw new Error("not there");
        return { conversation: { id: "cnv_again" } };
      },
    });
    const { lookups, kept } = lookUp(client);
    kept.write("lookups", "cnv_old");
    await lookups.tools(null);
    gone = false;
    expect(lookups.conversationId).toBe("cnv_again");
  });
});
