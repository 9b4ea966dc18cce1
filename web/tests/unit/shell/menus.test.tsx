// @vitest-environment jsdom
import { act, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { Workspace } from "../../../src/features/shell/workspace.ts";
import { conversation, expectAccessible, openShell, prepareShell } from "./open-shell.tsx";
import { pageOf, ScriptedClient } from "./scripted-client.ts";

prepareShell();

describe("the menus and dialogs of the shell", () => {
  test("grants are listed and revoked", async () => {
    const client = new ScriptedClient({
      "grants/list": () => ({
        grants: [
          {
            id: "grt_1",
            approvalId: "apr_1",
            scope: "session",
            tool: "write_file",
            conversationId: "cnv_1",
            pins: { path: "a.txt" },
            freed: ["content"],
            issuedAt: new Date().toISOString(),
            expiresAt: new Date(Date.now() + 60_000).toISOString(),
            uses: 1,
            maxUses: 5,
          },
        ],
      }),
      "grants/revoke": () => ({}),
    });
    const { user } = openShell(client);
    await user.click(await screen.findByRole("button", { name: /account and grants/ }));
    await user.click(await screen.findByRole("menuitem", { name: "Grants" }));
    await user.click(await screen.findByRole("button", { name: "Revoke" }));
    expect(await screen.findByText("No grant is in force")).toBeTruthy();
    expect(client.paramsOf("grants/revoke")).toEqual([{ grantId: "grt_1" }]);
  });

  test("sound is off until it is turned on, and the switch says who rings", async () => {
    const { user, rung } = openShell(new ScriptedClient());
    await user.click(await screen.findByRole("button", { name: /account and grants/ }));
    await user.click(await screen.findByRole("menuitem", { name: "Settings" }));
    const sound = await screen.findByRole("checkbox", { name: "Sound", checked: false });
    expect(screen.getByText(/the console never does/)).toBeTruthy();
    await user.click(sound);
    expect(await screen.findByRole("checkbox", { name: "Sound", checked: true })).toBeTruthy();
    expect(rung).toEqual(["sample"]);
    await expectAccessible();
    await user.click(sound);
    expect(rung).toEqual(["sample"]);
  });

  test("a conversation is renamed from its menu", async () => {
    const client = new ScriptedClient({
      "conversations/rename": ({ title }: { title: string }) => ({ conversation: { ...conversation, title } }),
    });
    const { user } = openShell(client);
    await user.click(await screen.findByRole("button", { name: "More for A talk" }));
    await user.click(await screen.findByRole("menuitem", { name: "Rename" }));
    const field = await screen.findByRole("textbox", { name: "Title" });
    await user.clear(field);
    await user.type(field, "Garden{Enter}");
    expect(await screen.findByText("Garden")).toBeTruthy();
    expect(client.paramsOf("conversations/rename")).toEqual([{ conversationId: "cnv_1", title: "Garden" }]);
  });

  test("a conversation whose new name is empty keeps the one that it has", async () => {
    const client = new ScriptedClient();
    const { user } = openShell(client);
    await user.click(await screen.findByRole("button", { name: "More for A talk" }));
    await user.click(await screen.findByRole("menuitem", { name: "Rename" }));
    const field = await screen.findByRole("textbox", { name: "Title" });
    await user.clear(field);
    await user.type(field, "  {Enter}");
    await waitFor(() => expect(screen.queryByRole("textbox", { name: "Title" })).toBeNull());
    expect(client.paramsOf("conversations/rename")).toEqual([]);
  });

  test("what is pinned in one page is pinned in the others, and stays so when something is pinned here", async () => {
    const other = { ...conversation, id: "cnv_2", title: "B talk" };
    const { user, environment, keepElsewhere } = openShell(
      new ScriptedClient({
        "conversations/list": () => ({ conversations: [{ ...conversation, title: "A talk" }, other] }),
      }),
    );
    await screen.findByRole("button", { name: "More for A talk" });
    act(() => keepElsewhere("pinned", "cnv_2"));
    expect(within(await screen.findByRole("list", { name: "Pinned" })).getByText("B talk")).toBeTruthy();
    await user.click(await screen.findByRole("button", { name: "More for A talk" }));
    await user.click(await screen.findByRole("menuitem", { name: "Pin to the top" }));
    expect(environment.kept.read("pinned").split(" ").toSorted()).toEqual(["cnv_1", "cnv_2"]);
  });

  test("a name that was pasted with tabs and what nobody sees is given as it looks", async () => {
    const client = new ScriptedClient({ "conversations/rename": () => ({ conversation }) });
    const { environment } = pageOf(client);
    const workspace = new Workspace(environment);
    await workspace.library.rename("cnv_1", "Plan\tA \u202e👩\u200d💻");
    expect(client.paramsOf("conversations/rename")).toEqual([{ conversationId: "cnv_1", title: "Plan A 👩\u200d💻" }]);
  });

  test("a conversation is exported from its menu as a JSON file with all that the gateway has of it", async () => {
    const exported = {
      format: "countersign.conversation.v1",
      exportedAt: conversation.createdAt,
      conversation: { ...conversation, title: "A talk" },
      messages: [],
      calls: [],
    };
    const client = new ScriptedClient({ "conversations/export": () => exported });
    const { user, saved } = openShell(client);
    await user.click(await screen.findByRole("button", { name: "More for A talk" }));
    await user.click(await screen.findByRole("menuitem", { name: "Export as JSON" }));
    await waitFor(() => expect(saved).toHaveLength(1));
    expect(saved[0]?.name).toBe("A-talk.json");
    expect(JSON.parse(saved[0]?.text ?? "")).toEqual(exported);
    expect(client.paramsOf("conversations/export")).toEqual([{ conversationId: "cnv_1" }]);
  });

  test("an export that fails says so and saves nothing", async () => {
    const { user, saved } = openShell(new ScriptedClient());
    await user.click(await screen.findByRole("button", { name: "More for A talk" }));
    await user.click(await screen.findByRole("menuitem", { name: "Export as JSON" }));
    expect(await screen.findByRole("alert")).toBeTruthy();
    expect(saved).toEqual([]);
  });

  test("a conversation is continued in a copy with all its turns and a title of its own", async () => {
    const original = { ...conversation, title: "A talk", turnCount: 3 };
    const copied = { ...original, id: "cnv_2" };
    const client = new ScriptedClient({
      "conversations/list": () => ({ conversations: [original] }),
      "conversations/fork": () => ({ conversation: copied, messages: [] }),
      "conversations/rename": ({ title }: { title: string }) => ({ conversation: { ...copied, title } }),
      "conversations/open": () => ({ conversation: { ...copied, title: "A talk (copy)" }, messages: [] }),
    });
    const { user, address } = openShell(client);
    await user.click(await screen.findByRole("button", { name: "More for A talk" }));
    await user.click(await screen.findByRole("menuitem", { name: "Continue in a copy" }));
    expect(await screen.findByRole("heading", { level: 1, name: "A talk (copy)" })).toBeTruthy();
    expect(address()).toBe("cnv_2");
    expect(client.paramsOf("conversations/fork")).toEqual([{ conversationId: "cnv_1", fromTurn: 3 }]);
    expect(client.paramsOf("conversations/rename")).toEqual([{ conversationId: "cnv_2", title: "A talk (copy)" }]);
    await expectAccessible();
  });
});
