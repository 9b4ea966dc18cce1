/** @vitest-environment jsdom */
import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import { type Conversation, emptyConversation } from "../../../src/agent/conversation.ts";
import { entryAt, searchWords } from "../../../src/features/shell/message-search.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { conversation, expectAccessible, openShell, prepareShell } from "./open-shell.tsx";
import { ScriptedClient } from "./scripted-client.ts";

prepareShell();

const at = "2026-11-21T10:00:00.000Z";
const found = (conversationId: string, turnId: string, excerpt: string) =>
  ({ conversationId, turnId, excerpt, title: "Garden", role: "assistant", at }) as const;

describe("what was said is searched from the list", () => {
  const said = (role: "user" | "assistant", turnId: string, content: string) =>
    ({ role, content, turnId, provenance: "claimed", at }) as const;

  test("a page at a time, and a message that was found is shown and has the focus", async () => {
    const client = new ScriptedClient({
      "conversations/search": ({ cursor }: { cursor?: string }) =>
        cursor === undefined
          ? { found: [found("cnv_2", "t2", "the tomatoes")], nextCursor: "next" }
          : { found: [found("cnv_2", "t1", "more tomatoes")] },
      "conversations/open": () => ({
        conversation: { ...conversation, id: "cnv_2", title: "Garden" },
        messages: [
          said("user", "t1", "tomatoes?"),
          said("assistant", "t1", "Plenty."),
          said("user", "t2", "where?"),
          said("assistant", "t2", "By the wall, the Tomatoes."),
        ],
      }),
    });
    const { user } = openShell(client);
    const list = await screen.findByRole("navigation", { name: "Conversations" });
    await user.type(within(list).getByRole("searchbox", { name: "Search conversations" }), "the tomatoes");
    const results = await within(list).findByRole("region", { name: "In what was said" });
    await within(results).findByRole("button", { name: /the tomatoes/ });
    expect(client.paramsOf("conversations/search").at(-1)).toEqual({ text: "the tomatoes" });
    await user.click(within(results).getByRole("button", { name: "Show more" }));
    await within(results).findByRole("button", { name: /more tomatoes/ });
    expect(within(results).queryByRole("button", { name: "Show more" })).toBeNull();
    await expectAccessible();
    await user.click(within(results).getByRole("button", { name: /^the tomatoes/ }));
    const shown = await screen.findByText("By the wall, the Tomatoes.");
    await waitFor(() => expect(document.activeElement).toBe(shown.closest("article")));
  });

  test("the words are marked, and the messages that have them are gone to one after the other", async () => {
    const marked = new Map<string, Set<Range>>();
    vi.stubGlobal("CSS", { highlights: marked });
    vi.stubGlobal(
      "Highlight",
      class extends Set<Range> {
        constructor(...ranges: Range[]) {
          super(ranges);
        }
      },
    );
    const client = new ScriptedClient({
      "conversations/search": () => ({ found: [found("cnv_2", "t2", "the (tomatoes)")] }),
      "conversations/open": () => ({
        conversation: { ...conversation, id: "cnv_2", title: "Garden" },
        messages: [
          said("user", "t1", `(Tomatoes) or beans?${"\n".repeat(30)}Or (TOMATOES) again?`),
          said("assistant", "t1", "Beans."),
          said("user", "t2", "where do (tomatoes) grow?"),
          said("assistant", "t2", "By the **wall**, (tomatoes) and (TOMATOES)."),
        ],
      }),
    });
    const { user } = openShell(client);
    const list = await screen.findByRole("navigation", { name: "Conversations" });
    await user.type(within(list).getByRole("searchbox", { name: "Search conversations" }), "(tomatoes)");
    const hit = await within(list).findByRole("button", { name: /the \(tomatoes\)/ });
    expect(within(hit).getByText("(tomatoes)").tagName).toBe("MARK");
    await user.click(hit);
    const bar = await screen.findByRole("group", { name: "Found messages" });
    const sought = () => document.querySelector("[data-sought]")?.textContent;
    expect(within(bar).getByRole("status").textContent).toBe("Message 2 of 3");
    expect([...(marked.get("found") ?? [])].map(String)).toEqual([
      "(Tomatoes)",
      "(tomatoes)",
      "(tomatoes)",
      "(TOMATOES)",
    ]);
    await expectAccessible();
    await user.click(screen.getByRole("button", { name: "Show more" }));
    await waitFor(() => expect(marked.get("found")?.size).toBe(5));
    const after = within(bar).getByRole("button", { name: "Message after" });
    await user.click(after);
    expect(within(bar).getByRole("status").textContent).toBe("Message 3 of 3");
    expect(sought()).toContain("By the wall");
    expect(document.activeElement).toBe(after);
    await user.click(after);
    expect(sought()).toContain("or beans?");
    await user.click(within(bar).getByRole("button", { name: "Message before" }));
    expect(within(bar).getByRole("status").textContent).toBe("Message 3 of 3");
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("group", { name: "Found messages" })).toBeNull();
    expect(marked.size).toBe(0);
    expect(sought()).toBeUndefined();
  });

  test("a search that fails or finds nothing says so", async () => {
    const client = new ScriptedClient({
      "conversations/search": ({ text }: { text: string }) => {
        if (text === "broken") throw new RpcError(-32005, "the ledger is not there");
        return { found: [] };
      },
    });
    const { user } = openShell(client);
    const list = await screen.findByRole("navigation", { name: "Conversations" });
    const box = within(list).getByRole("searchbox", { name: "Search conversations" });
    await user.type(box, "nothing");
    await within(list).findByText("No message has these words.");
    await user.clear(box);
    expect(within(list).queryByRole("region", { name: "In what was said" })).toBeNull();
    await user.type(box, "broken");
    await screen.findByText(/ledger/);
  });
});

test("one letter is too little to look for, and no more than eight words are", () => {
  expect(searchWords(" a ")).toEqual([]);
  expect(searchWords(" a  bc ")).toEqual(["a", "bc"]);
  expect(searchWords("1 2 3 4 5 6 7 8 9")).toHaveLength(8);
});

test("the entry that was found is the first of its turn with all the words, else the question", () => {
  const view: Conversation = {
    ...emptyConversation,
    entries: [
      { key: "e1", kind: "user", text: "one", turnId: "t1", steered: false },
      { key: "e2", kind: "assistant", text: "milk", stopped: false },
      { key: "e3", kind: "user", text: "two", turnId: "t2", steered: false },
      { key: "e4", kind: "assistant", text: "bread", stopped: false },
      { key: "e5", kind: "assistant", text: "Milk and bread", stopped: false },
    ],
  };
  const keyAt = (turnId: string, ...words: string[]) => entryAt(view.entries, { turnId, words })?.key;
  expect(keyAt("t2", "milk")).toBe("e5");
  expect(keyAt("t1", "milk")).toBe("e2");
  expect(keyAt("t1", "gone")).toBe("e1");
  expect(keyAt("t9", "milk")).toBeUndefined();
});
