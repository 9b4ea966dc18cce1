// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { FakeSource, proposedTool } from "./fake-sources.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;

beforeEach(() => {
  gateway = new FakeGateway();
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const grid = () => screen.findByRole("grid", { name: "Tools of notes" });
const rows = async () => within(await grid()).getAllByRole("row");
const row = async (tool: string) => {
  const found = (await rows()).find((each) => each.textContent?.includes(`notes__${tool}`));
  if (found === undefined) throw new Error(`no row of ${tool}`);
  return found;
};

async function openTools(...tools: readonly string[]): Promise<FakeSource> {
  const source = new FakeSource(
    gateway,
    tools.map((tool) => proposedTool(tool)),
  );
  openConsole(gateway, "/sources/notes");
  const [first] = await rows();
  first?.focus();
  return source;
}

describe("the list of sources", () => {
  test("says how to begin while there is none", async () => {
    openConsole(gateway, "/sources");
    expect(await screen.findByText("No source was added yet")).toBeDefined();
    expect(screen.getByRole("button", { name: "Import servers" })).toBeDefined();
  });

  test("says of each its state, its last error, and how many of its tools wait or changed", async () => {
    const source = new FakeSource(gateway, [proposedTool("a"), proposedTool("b", { standing: "quarantined" })]);
    source.changes = { state: "away", why: "the program ended\u202e at once" };
    openConsole(gateway, "/sources");
    const card = (await screen.findByRole("link", { name: "notes" })).closest("li");
    expect(card?.textContent).toContain("away");
    expect(card?.textContent).toContain("the program ended");
    expect(card?.textContent).toContain("U+202E");
    expect(card?.textContent).toContain("1 changed");
    expect(card?.textContent).toContain("1 undecided");
  });

  test("is for operators, and nothing of it is asked on behalf of a guest", async () => {
    gateway.profile = "guest";
    openConsole(gateway, "/sources");
    expect(await screen.findByText("This page is for operators")).toBeDefined();
    expect(screen.queryByRole("link", { name: "Sources" })).toBeNull();
    expect(gateway.calls.filter(({ method }) => /^(sources|secrets)/.test(method))).toEqual([]);
  });
});

describe("adding a source", () => {
  test("sends what was typed, and goes to the source", async () => {
    gateway.handlers["sources/add"] = () => new FakeSource(gateway, [proposedTool("read")]).view();
    openConsole(gateway, "/sources");
    await userEvent.click(await screen.findByRole("button", { name: "Add a source" }));
    await userEvent.type(screen.getByLabelText("Name"), "notes");
    await userEvent.type(screen.getByLabelText("Program"), "serve-notes");
    await userEvent.type(screen.getByLabelText("Arguments"), "--all{Enter}two words");
    await userEvent.click(screen.getByRole("button", { name: "Add it" }));
    expect(await grid()).toBeDefined();
    expect(window.location.pathname).toBe("/sources/notes");
    expect(gateway.asked("sources/add")).toEqual([
      { name: "notes", kind: "mcp", settings: { command: "serve-notes", args: ["--all", "two words"] } },
    ]);
  });

  test("shows the gateway's refusal at the form, which keeps what was typed", async () => {
    gateway.handlers["sources/add"] = () => {
      throw new RpcError(-32602, "`folders`: `notes` should be a whole path");
    };
    openConsole(gateway, "/sources");
    await userEvent.click(await screen.findByRole("button", { name: "Add a source" }));
    await userEvent.type(screen.getByLabelText("Name"), "notes");
    await userEvent.type(screen.getByLabelText("Program"), "serve-notes");
    await userEvent.click(screen.getByRole("button", { name: "Add it" }));
    expect((await screen.findByRole("alert")).textContent).toContain("should be a whole path");
    expect(screen.getByLabelText<HTMLInputElement>("Program").value).toBe("serve-notes");
  });
});

describe("the tools of a source", () => {
  test("are decided about with one key each, with the pin that was on the screen, and the focus stays", async () => {
    await openTools("first", "second", "third");
    await userEvent.keyboard("w");
    await waitFor(async () => expect((await row("first")).textContent).toContain("in use"));
    expect(document.activeElement).toBe(await row("first"));
    expect(screen.getAllByRole("status").map((each) => each.textContent)).toContain(
      "notes__first: write. Operators: runs at once, Guests: asks for consent, Visitors: never.",
    );
    await userEvent.keyboard("jx{ArrowDown}{Enter}");
    await waitFor(async () => expect((await row("third")).textContent).toContain("in use"));
    expect(gateway.asked("sources/decide").map(({ decisions }) => decisions)).toEqual([
      [{ tool: "first", pin: "first-1", category: "write" }],
      [{ tool: "second", pin: "second-1" }],
      [{ tool: "third", pin: "third-1", category: "read" }],
    ]);
  });

  test("are not decided about by keys that are held, meant for a button or pressed with another", async () => {
    await openTools("first");
    await userEvent.keyboard("{Control>}r{/Control}{Alt>}a{/Alt}");
    screen.getByRole("button", { name: "Details of notes__first" }).focus();
    await userEvent.keyboard("rx");
    await userEvent.type(screen.getByLabelText("Search names and descriptions"), "f");
    expect(gateway.asked("sources/decide")).toEqual([]);
  });

  test("are decided about where the focus is, however it came there", async () => {
    await openTools("first", "second", "third");
    (await row("third")).focus();
    await userEvent.keyboard("n");
    await waitFor(async () => expect((await row("third")).textContent).toContain("in use"));
    fireEvent.click(screen.getByText("notes__second"), { shiftKey: true });
    expect(await screen.findByText("2 tools selected")).toBeDefined();
    expect(gateway.asked("sources/decide").map(({ decisions }) => decisions)).toEqual([
      [{ tool: "third", pin: "third-1", category: "network" }],
    ]);
  });

  test("are decided about together only after they were listed", async () => {
    await openTools("first", "second", "third");
    await userEvent.keyboard("{Shift>}{ArrowDown}{/Shift}n");
    const dialog = await screen.findByRole("dialog", { name: "Decide about 2 tools?" });
    expect(within(dialog).getByRole("list", { name: "Network: tools" }).textContent).toBe("firstsecond");
    expect(gateway.asked("sources/decide")).toEqual([]);
    await userEvent.click(within(dialog).getByRole("button", { name: "Decide about all" }));
    await waitFor(async () => expect((await row("second")).textContent).toContain("in use"));
    expect(gateway.asked("sources/decide")).toHaveLength(1);
    expect((await row("third")).textContent).toContain("undecided");
  });

  test("are all given what is proposed, on every page, after they were listed", async () => {
    const source = new FakeSource(
      gateway,
      ["a", "b", "c", "d"].map((name) => proposedTool(name, name === "b" ? { proposed: "destructive" } : {})),
    );
    source.pageSize = 3;
    openConsole(gateway, "/sources/notes");
    await userEvent.click(await screen.findByRole("button", { name: "All undecided as proposed" }));
    const dialog = await screen.findByRole("dialog", { name: "Decide about 4 tools?" });
    expect(within(dialog).getByRole("list", { name: "Destructive: tools" }).textContent).toBe("b");
    await userEvent.click(within(dialog).getByRole("button", { name: "Decide about all" }));
    await waitFor(() => expect(source.tools.every(({ standing }) => standing === "inUse")).toBe(true));
    expect(source.tools.map(({ category }) => category)).toEqual(["read", "destructive", "read", "read"]);
  });

  test("come page by page, and are searched and filtered by the gateway", async () => {
    const source = new FakeSource(
      gateway,
      Array.from({ length: 7 }, (_, index) => proposedTool(`tool-${index}`)),
    );
    source.pageSize = 3;
    openConsole(gateway, "/sources/notes");
    expect(await rows()).toHaveLength(3);
    await userEvent.click(screen.getByRole("button", { name: "Show more" }));
    await waitFor(async () => expect(await rows()).toHaveLength(6));
    expect(screen.getByText("6 of 7 tools")).toBeDefined();
    await userEvent.type(screen.getByLabelText("Search names and descriptions"), "tool-6");
    await waitFor(async () => expect(await rows()).toHaveLength(1));
    await userEvent.selectOptions(screen.getByLabelText("Standing"), "inUse");
    expect(await screen.findByText("No tool matches")).toBeDefined();
  });

  test("that changed meanwhile are loaded again, which is said, and nothing is decided", async () => {
    const source = await openTools("first");
    source.tools = [proposedTool("first", { pin: "first-2", definition: { description: "Sends it away." } })];
    await userEvent.keyboard("r");
    expect((await screen.findByRole("alert")).textContent).toContain("A tool changed while you looked at it");
    await waitFor(async () => expect((await row("first")).textContent).toContain("Sends it away."));
    expect(source.tools[0]?.standing).toBe("proposed");
  });

  test("in quarantine are shown with what they were, line by line, until somebody decides again", async () => {
    const source = new FakeSource(gateway, [
      proposedTool("read", {
        standing: "quarantined",
        category: "read",
        decided: { name: "read", description: "Reads a note.\nNothing else.", network: false },
        definition: { name: "read", description: "Reads a note.\nAnd se\u200bnds it.", network: true },
      }),
    ]);
    openConsole(gateway, "/sources/notes");
    const difference = await screen.findByRole("region", { name: "What changed in notes__read" });
    const lines = within(difference).getByRole("list", { name: "Description: old and new lines" });
    expect(
      within(lines)
        .getAllByRole("listitem")
        .map((line) => line.textContent),
    ).toEqual([" Reads a note.", "−was: Nothing else.", "+is now: And seU+200Bnds it."]);
    expect(within(difference).getByText("Reaches the network")).toBeDefined();
    expect(within(difference).queryByText("Own name")).toBeNull();
    (await row("read")).focus();
    await userEvent.keyboard("n");
    await waitFor(() => expect(source.tools[0]?.standing).toBe("inUse"));
    await waitFor(() => expect(screen.queryByRole("region", { name: "What changed in notes__read" })).toBeNull());
  });

  test("open with everything that a decision is bound to, all of it as plain text", async () => {
    new FakeSource(gateway, [
      proposedTool("read", { definition: { ...proposedTool("read").definition, description: "<img src=x>" } }),
    ]);
    openConsole(gateway, "/sources/notes");
    (await row("read")).focus();
    await userEvent.keyboard(" ");
    const opened = await row("read");
    expect(opened.textContent).toContain("<img src=x>");
    expect(opened.querySelector("img")).toBeNull();
    expect(opened.textContent).toContain("path string required Which note.");
    await userEvent.click(within(opened).getByRole("button", { name: "Forbid" }));
    await waitFor(async () => expect((await row("read")).textContent).toContain("forbidden"));
  });
});

describe("a source", () => {
  test("says in words what it may touch", async () => {
    const source = new FakeSource(gateway, []);
    source.settings = {
      command: ["serve"],
      folders: ["/home/nora/notes"],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: settings are written like this
      env: { KEY: "${secret:NOTES_KEY}" },
    };
    openConsole(gateway, "/sources/notes");
    const touches = await screen.findByRole("region", { name: "What it may touch" });
    expect(touches.textContent).toContain("/home/nora/notes");
    expect(touches.textContent).toContain("It is given the stored secrets:NOTES_KEY");
    expect(touches.textContent).toContain("NetworkNone.");
  });

  test("is tested, switched off and on", async () => {
    await openTools("first");
    await userEvent.click(screen.getByRole("button", { name: "Test again" }));
    await waitFor(() => expect(gateway.asked("sources/test")).toEqual([{ name: "notes" }]));
    await userEvent.click(screen.getByRole("button", { name: "Switch off" }));
    expect(await screen.findByRole("button", { name: "Switch on" })).toBeDefined();
    expect(gateway.asked("sources/switch")).toEqual([{ name: "notes", enabled: false }]);
  });

  test("is changed in the form that it was added with, and says what that means for its tools", async () => {
    const source = await openTools("first");
    const opener = screen.getByRole("button", { name: "Change" });
    await userEvent.click(opener);
    const form = within(screen.getByRole("form", { name: "Change notes" }));
    expect(form.getByText(/cannot be called until somebody decides again/)).toBeDefined();
    expect(form.getByLabelText<HTMLInputElement>("Program").value).toBe("serve-notes");
    await userEvent.type(form.getByLabelText("Arguments"), "{Enter}--more");
    await userEvent.click(form.getByRole("button", { name: "Change it" }));
    await waitFor(() => expect(screen.queryByRole("form", { name: "Change notes" })).toBeNull());
    expect(document.activeElement).toBe(opener);
    expect(gateway.asked("sources/change")).toEqual([
      {
        name: "notes",
        settingsDigest: JSON.stringify({ command: ["serve-notes", "--all"], network: true }),
        settings: { command: "serve-notes", args: ["--all", "--more"] },
        without: [],
      },
    ]);
    expect(source.settings).toMatchObject({ args: ["--all", "--more"], network: true });
    expect(screen.getByRole("region", { name: "What it may touch" }).textContent).toContain("--more");
  });

  test("shows what its form cannot write, to be read only", async () => {
    const source = new FakeSource(gateway, []);
    source.settings = { command: "serve", env: { CERT: "one\ntwo" }, labels: ["label:internal", "label:high"] };
    openConsole(gateway, "/sources/notes");
    await userEvent.click(await screen.findByRole("button", { name: "Change" }));
    const form = within(screen.getByRole("form", { name: "Change notes" }));
    for (const [name, value] of [
      ["Variables", "CERT=one\ntwo"],
      ["Confidentiality of what it answers", "label:internal, label:high"],
    ] as const) {
      const field = form.getByLabelText<HTMLInputElement>(name);
      expect([field.value, field.readOnly]).toEqual([value, true]);
      expect(document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent).toContain(
        "It is changed on the command line.",
      );
    }
    await userEvent.type(form.getByLabelText("Arguments"), "--all");
    await userEvent.click(form.getByRole("button", { name: "Change it" }));
    await waitFor(() => expect(source.settings.args).toEqual(["--all"]));
    expect(source.settings).toMatchObject({ env: { CERT: "one\ntwo" }, labels: ["label:internal", "label:high"] });
  });

  test("that somebody else changed meanwhile says so at the form, which stays open", async () => {
    await openTools("first");
    gateway.handlers["sources/change"] = () => {
      throw new RpcError(-32004, "somebody changed the settings of `notes` meanwhile", "changed");
    };
    await userEvent.click(screen.getByRole("button", { name: "Change" }));
    await userEvent.click(screen.getByRole("button", { name: "Change it" }));
    const said = await screen.findByRole("alert");
    expect(said.textContent).toContain("The gateway did not change it");
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Change" }));
  });

  test("is removed after it was asked whether it should be", async () => {
    const removed: string[] = [];
    gateway.handlers["sources/remove"] = ({ name }) => {
      removed.push(name);
      gateway.handlers["sources/list"] = () => ({ sources: [] });
      return {};
    };
    await openTools("first");
    await userEvent.click(screen.getByRole("button", { name: "Remove" }));
    expect(removed).toEqual([]);
    await userEvent.click(await screen.findByRole("button", { name: "Remove it" }));
    expect(await screen.findByText("No source was added yet")).toBeDefined();
    expect(removed).toEqual(["notes"]);
  });

  test("that is declared cannot be removed here, and says where", async () => {
    const source = new FakeSource(gateway, []);
    source.changes = { declared: true };
    openConsole(gateway, "/sources/notes");
    expect(await screen.findByText(/It is changed, switched off or removed there/)).toBeDefined();
    expect(screen.queryByRole("button", { name: "Remove" })).toBeNull();
  });
});

describe("secrets", () => {
  test("are stored from a password field that is empty afterwards, and removed", async () => {
    let stored: string[] = [];
    gateway.handlers["secrets/list"] = () => ({ secrets: stored.map((name) => ({ name, sources: ["notes"] })) });
    gateway.handlers["secrets/store"] = ({ name }) => {
      stored = [name];
      return {};
    };
    gateway.handlers["secrets/remove"] = () => {
      stored = [];
      return {};
    };
    openConsole(gateway, "/sources");
    await userEvent.type(await screen.findByLabelText("Name of the secret"), "KEY");
    const value = screen.getByLabelText<HTMLInputElement>("Value");
    expect(value.type).toBe("password");
    await userEvent.type(value, "hunter2");
    await userEvent.click(screen.getByRole("button", { name: "Store" }));
    const list = await screen.findByRole("list", { name: "Stored secrets" });
    expect(list.textContent).toContain("used by notes");
    expect(value.value).toBe("");
    expect(gateway.asked("secrets/store")).toEqual([{ name: "KEY", value: "hunter2" }]);
    await userEvent.click(screen.getByRole("button", { name: "Remove the secret KEY" }));
    expect(await screen.findByText(/cannot connect any more: notes/)).toBeDefined();
    await userEvent.click(screen.getByRole("button", { name: "Remove it" }));
    await waitFor(() => expect(screen.queryByRole("list", { name: "Stored secrets" })).toBeNull());
  });
});
