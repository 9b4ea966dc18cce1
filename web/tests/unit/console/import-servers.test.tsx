// @vitest-environment jsdom
import { cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ConfigurationPreview } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { FakeSource } from "./fake-sources.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

const TEXT = '{"mcpServers": {"time": {"command": "uvx"}}}';
const DIGEST = "a".repeat(64);

const PREVIEW: ConfigurationPreview = {
  servers: [
    {
      name: "time",
      settings: { command: ["uvx"], args: ["mcp-server-time"], env: { KEY: `$${"{secret:time.KEY}"}` } },
      secrets: ["time.KEY"],
      replaced: [],
      missing: [],
      notes: [],
      fetches: "uvx",
    },
    {
      name: "tickets",
      settings: { url: "https://tickets.example/mcp" },
      secrets: ["tickets.Authorization"],
      replaced: ["tickets.Authorization"],
      missing: ["tickets.id"],
      notes: ["may read /srv"],
    },
  ],
  refused: [{ name: "old\u202e", why: "it has neither a `command` nor a `url`" }],
  digest: DIGEST,
};

let gateway: FakeGateway;

beforeEach(() => {
  gateway = new FakeGateway();
  gateway.handlers["sources/read-configuration"] = () => PREVIEW;
});

afterEach(cleanup);

async function open() {
  openConsole(gateway, "/sources");
  await userEvent.click(await screen.findByRole("button", { name: "Import servers" }));
}

async function look() {
  await open();
  await userEvent.click(screen.getByLabelText("Or its text"));
  await userEvent.paste(TEXT);
  await userEvent.click(screen.getByRole("button", { name: "Show what would be added" }));
  return screen.findByRole("list", { name: "Servers" });
}

describe("importing servers", () => {
  test("shows what would be added, what becomes of its secrets and what is refused, and adds nothing by that", async () => {
    const servers = within(await look());
    expect(servers.getAllByText("mcp-server-time")).toBeDefined();
    expect(servers.getAllByText("https://tickets.example/mcp")).toBeDefined();
    const [time, tickets] = servers.getAllByRole("checkbox").map((box) => box.closest("li")?.textContent);
    expect(time).toContain("The value of time.KEY is kept as a secret.");
    expect(time).toContain("uvx fetches its package from the network, which it may not reach.");
    expect(tickets).toContain("The value of tickets.Authorization replaces the stored secret of that name.");
    expect(tickets).toContain("It needs the secret tickets.id");
    expect(tickets).toContain("may read /srv");
    const refused = screen.getByRole("list", { name: "Servers that cannot be added" });
    expect(refused.textContent).toContain("it has neither a");
    expect(refused.textContent).toContain("U+202E");
    expect(gateway.asked("sources/read-configuration")).toEqual([{ text: TEXT, network: false }]);
    expect(gateway.asked("sources/import")).toEqual([]);
    // What was pasted may hold secrets, and is in sight no more.
    expect(document.body.textContent).not.toContain(TEXT);
    expect(screen.queryByRole("textbox", { name: "Or its text" })).toBeNull();
  });

  test("adds those that are chosen, as they were shown", async () => {
    gateway.handlers["sources/import"] = () => ({ sources: [new FakeSource(gateway, []).view()] });
    await look();
    await userEvent.click(screen.getByRole("checkbox", { name: "Add tickets" }));
    await userEvent.click(screen.getByRole("button", { name: "Add 1 server" }));
    expect(await screen.findByRole("link", { name: "notes" })).toBeDefined();
    expect(gateway.asked("sources/import")).toEqual([
      { text: TEXT, network: false, digest: DIGEST, servers: ["time"] },
    ]);
    expect(screen.getByRole("button", { name: "Import servers" })).toBeDefined();
  });

  test("takes a file, without showing what is in it", async () => {
    await open();
    await userEvent.upload(screen.getByLabelText("File of the client"), new File([TEXT], "mcp.json"));
    expect(screen.queryByLabelText("Or its text")).toBeNull();
    await userEvent.click(screen.getByRole("checkbox", { name: "Its programs may reach the network" }));
    await userEvent.click(screen.getByRole("button", { name: "Show what would be added" }));
    await screen.findByRole("list", { name: "Servers" });
    expect(gateway.asked("sources/read-configuration")).toEqual([{ text: TEXT, network: true }]);
  });

  test("says what cannot be sent, and what the gateway makes of it", async () => {
    await open();
    await userEvent.click(screen.getByRole("button", { name: "Show what would be added" }));
    expect((await screen.findByRole("alert")).textContent).toBe("Choose a file or paste its text.");
    await userEvent.click(screen.getByLabelText("Or its text"));
    await userEvent.paste('"'.repeat(90_001));
    await userEvent.click(screen.getByRole("button", { name: "Show what would be added" }));
    expect((await screen.findByRole("alert")).textContent).toContain("too long");
    expect(gateway.asked("sources/read-configuration")).toEqual([]);
    gateway.handlers["sources/read-configuration"] = () => {
      throw new RpcError(-32602, "the file holds no servers");
    };
    await userEvent.clear(screen.getByLabelText("Or its text"));
    await userEvent.paste("[]");
    await userEvent.click(screen.getByRole("button", { name: "Show what would be added" }));
    expect((await screen.findByRole("alert")).textContent).toContain("The file holds no servers.");
  });

  test("says when none of it was added, and goes back to be looked at again", async () => {
    gateway.handlers["sources/import"] = () => {
      throw new RpcError(-32004, "what it would add is not what you looked at any more; look at it again");
    };
    await look();
    await userEvent.click(screen.getByRole("button", { name: "Add 2 servers" }));
    expect((await screen.findByRole("alert")).textContent).toContain("The gateway added none of it");
    await userEvent.click(screen.getByRole("checkbox", { name: "Add tickets" }));
    await userEvent.click(screen.getByRole("checkbox", { name: "Add time" }));
    expect(screen.queryByRole("button", { name: /^Add \d/ })).toBeNull();
    await userEvent.click(screen.getByRole("checkbox", { name: "Add time" }));
    expect(screen.getByRole("button", { name: "Add 1 server" })).toBeDefined();
    await userEvent.click(screen.getByRole("button", { name: "Back" }));
    expect(screen.getByLabelText<HTMLTextAreaElement>("Or its text").value).toBe(TEXT);
    expect(screen.queryByRole("alert")).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(screen.getByRole("button", { name: "Import servers" })).toBeDefined();
  });
});
