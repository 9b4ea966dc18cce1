// @vitest-environment jsdom

import { screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import type { ToolDescriptor, ToolObstacle } from "../../../src/protocol/generated.ts";
import { requirement } from "../../requirement.ts";
import { expectAccessible, openShell, prepareShell } from "./open-shell.tsx";
import { ScriptedClient } from "./scripted-client.ts";

prepareShell();

beforeEach(() => {
  // jsdom lays nothing out.
  Element.prototype.scrollIntoView = () => undefined;
});

function tool(
  name: string,
  source: string,
  permission: ToolDescriptor["permission"],
  what = "Does it.",
): ToolDescriptor {
  return {
    name,
    source,
    permission,
    description: `${what}\nAnd more that no list shows.`,
    interfaceId: "i",
    methodName: name,
    paramSchema: {},
    category: "read",
    digest: "d".repeat(64),
  };
}

const BUILT_IN = [
  tool("read_file", "builtin", "auto", "Read a file."),
  tool("write_file", "builtin", "consent"),
  tool("delete_file", "builtin", "stepUp"),
  tool("reboot", "builtin", "forbidden"),
];
const MANY = Array.from({ length: 2_000 }, (_, at) =>
  tool(
    `shop__order_${String(at).padStart(4, "0")}`,
    "http:shop",
    at === 7 ? "auto" : "forbidden",
    `Order number ${at}.`,
  ),
);
const AWAY = [tool("notes__read", "mcp:notes", "forbidden"), tool("notes__send", "mcp:notes", "forbidden")];
const OBSTACLES: ToolObstacle[] = [
  { reason: "forbidden", why: "Only an operator of this machine may", tools: ["reboot"] },
  {
    reason: "forbidden",
    why: "nobody has decided about it yet",
    tools: MANY.filter(({ permission }) => permission === "forbidden").map(({ name }) => name),
  },
  { reason: "sourceUnavailable", why: "`notes` is away: no\u202e licence", tools: AWAY.map(({ name }) => name) },
];

async function openList(typed = "/tools", tools = [...BUILT_IN, ...MANY, ...AWAY]) {
  const client = new ScriptedClient({ "tools/describe": () => ({ tools, obstacles: OBSTACLES }) });
  const { user } = openShell(client);
  await user.type(await screen.findByRole("textbox", { name: "Message" }), `${typed}{Enter}`);
  const list = await screen.findByRole("region", { name: "Tools of this conversation" });
  return { user, list };
}

const group = (list: HTMLElement, source: string) =>
  within(list).getByRole("heading", { name: source }).closest("details") as HTMLElement;

describe("the tools of a conversation", () => {
  test("stand under the source that they come from, each with its mode in words", async () => {
    requirement("002-23", "the page lists what can be called and what each needs");
    const { list } = await openList();
    expect(
      within(list)
        .getAllByRole("heading", { level: 3 })
        .map((each) => each.textContent),
    ).toEqual(["Built in", "shop", "notes"]);
    const rows = within(group(list, "Built in")).getAllByRole("listitem");
    expect(rows.map((row) => row.textContent)).toEqual([
      "read_fileRuns by itselfRead a file.",
      "write_fileAsks firstDoes it.",
      "delete_fileNeeds your passkeyDoes it.",
      "rebootNot allowedDoes it.Only an operator of this machine may",
    ]);
    expect(within(list).getByRole("status").textContent).toBe("2,006 tools from 3 sources");
  });

  test("say once for all of a source why they cannot be called, with nothing hidden in the words", async () => {
    const { list, user } = await openList();
    expect(group(list, "shop").textContent).toContain("Not allowed 1,999 tools: nobody has decided about it yet");
    expect(group(list, "shop").textContent).toContain("HTTP API · 2,000 tools · 1 can be called");
    await user.click(within(list).getByRole("heading", { name: "notes" }));
    expect(group(list, "notes").textContent).toContain("Unavailable 2 tools: `notes` is away: noU+202E licence");
    expect(within(group(list, "notes")).getAllByRole("listitem")[0]?.textContent).toBe(
      "notes__readUnavailableDoes it.",
    );
  });

  test("two thousand of them are read a page at a time, and the reader goes on at the first that is new", async () => {
    const { list, user } = await openList();
    const shop = group(list, "shop");
    expect(within(shop).getAllByRole("listitem")).toHaveLength(50);
    await user.click(within(shop).getByRole("button", { name: "Show 50 more" }));
    expect(within(shop).getAllByRole("listitem")).toHaveLength(100);
    expect(document.activeElement?.textContent).toContain("shop__order_0050");
    expect(shop.textContent).toContain("100 of 2,000");
    // The groups behind a page of open rows are closed until somebody opens them.
    expect(group(list, "notes").hasAttribute("open")).toBe(false);
  });

  test("are searched while one types, by every word, in name, summary and source", async () => {
    const { list, user } = await openList();
    const box = within(list).getByRole("searchbox", { name: "Search the tools" });
    expect(document.activeElement).toBe(box);
    await user.keyboard("NUMBER 1234");
    expect(within(list).getByRole("status").textContent).toBe("1 of 2,006 tools, from one source");
    expect(
      within(list)
        .getAllByRole("listitem")
        .map((row) => row.textContent),
    ).toEqual(["shop__order_1234Not allowedOrder number 1234.nobody has decided about it yet"]);
    await user.clear(box);
    await user.keyboard("notes");
    expect(within(list).getAllByRole("listitem")).toHaveLength(2);
    await user.clear(box);
    await user.keyboard("nothing of the kind");
    expect(within(list).getByRole("status").textContent).toBe("No tool has all of these words.");
    expect(within(list).queryAllByRole("listitem")).toEqual([]);
  });

  test("can be searched with the command itself", async () => {
    const { list } = await openList("/tools order 0003");
    expect(
      within(list)
        .getAllByRole("listitem")
        .map((row) => row.textContent),
    ).toEqual(["shop__order_0003Not allowedOrder number 3.nobody has decided about it yet"]);
  });

  test("leave the keyboard in the message box where they are few", async () => {
    const { list } = await openList("/tools", BUILT_IN);
    expect(within(list).getByRole("status").textContent).toBe("4 tools from one source");
    expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Message" }));
    await expectAccessible();
  });

  test("that are none are called so", async () => {
    const { list } = await openList("/tools", []);
    expect(list.textContent).toContain("There are none.");
    expect(within(list).queryByRole("searchbox")).toBeNull();
  });

  test("one by one say why they cannot be called as well", async () => {
    const client = new ScriptedClient({ "tools/describe": () => ({ tools: BUILT_IN, obstacles: OBSTACLES }) });
    const { user } = openShell(client);
    await user.type(await screen.findByRole("textbox", { name: "Message" }), "/inspect reboot{Enter}");
    const view = await screen.findByRole("region", { name: "The tool reboot" });
    expect(view.textContent).toContain("Only an operator of this machine may");
  });
});
