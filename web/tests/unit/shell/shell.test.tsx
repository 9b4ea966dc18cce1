// @vitest-environment jsdom
import { act, render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { describe, expect, test } from "vitest";
import { Shell } from "../../../src/features/shell/Shell.tsx";
import type { ToolRequest, ToolResult } from "../../../src/protocol/generated.ts";
import { ConnectionLost } from "../../../src/protocol/rpc.ts";
import { now, setClock } from "../../../src/ui/clock.ts";
import { requirement } from "../../requirement.ts";
import { largeModel, ok, resultOf, snapshotOf } from "../agent/scripted.ts";
import { approvalFor } from "./approvals.ts";
import { conversation, expectAccessible, openShell, prepareShell } from "./open-shell.tsx";
import { start, waitingTools } from "./open-workspace.ts";
import { description, pageOf, ScriptedClient } from "./scripted-client.ts";

prepareShell();

const DELETE = '{"tool":"delete_file","arguments":{"path":"notes/old.txt"}}';

describe("without a session", () => {
  test("without a session there is one thing to do: sign in", async () => {
    const client = new ScriptedClient();
    client.start = () => client.become({ phase: "ended", reason: "notSignedIn" });
    openShell(client);
    expect((await screen.findByRole("link", { name: "Sign in" })).getAttribute("href")).toBe("/login");
    await expectAccessible();
  });

  test("whom the console sent to begin at once is signed in without a press", async () => {
    const client = new ScriptedClient();
    client.start = () => client.become({ phase: "ended", reason: "notSignedIn" });
    openShell(client, [], { beginsAtOnce: true });
    expect(await screen.findByText("Signing in")).toBeDefined();
    await waitFor(() => expect(client.seen.map(({ method }) => method)).toContain("GET /login"));
    expect(screen.queryByRole("link")).toBeNull();
  });

  test("a session that ended later is not begun again by itself", async () => {
    const client = new ScriptedClient();
    openShell(client, [], { beginsAtOnce: true });
    await screen.findByRole("textbox", { name: "Message" });
    client.become({ phase: "ended", reason: "expired" });
    expect(client.seen.map(({ method }) => method)).not.toContain("GET /login");
    await userEvent.click(await screen.findByRole("link", { name: "Sign in again" }));
    expect(client.seen.map(({ method }) => method)).toContain("GET /login");
  });

  test("when the session ends, the page says why", async () => {
    const client = new ScriptedClient();
    openShell(client);
    await screen.findByRole("textbox", { name: "Message" });
    client.become({ phase: "ended", reason: "expired" });
    expect(await screen.findByRole("link", { name: "Sign in again" })).toBeTruthy();
    expect(screen.queryByRole("textbox")).toBeNull();
  });

  test("when the session ends, name and icon of the tab no longer say that something waits", async () => {
    const { client } = waitingTools();
    const { user } = openShell(client, [DELETE]);
    await user.type(await screen.findByRole("textbox", { name: "Message" }), "delete notes/old.txt{Enter}");
    await screen.findByRole("article", { name: "delete_file: Running" });
    act(() => client.notify("approvals/requested", { approval: approvalFor("call_1") }));
    await waitFor(() => expect(document.title).toBe("(1) delete notes/old.txt · Countersign"));
    act(() => client.become({ phase: "ended", reason: "revoked" }));
    await screen.findByRole("link", { name: "Sign in again" });
    expect(document.title).toBe("Countersign");
  });

  test("a lost connection is a banner and not an end", async () => {
    const client = new ScriptedClient();
    openShell(client);
    await screen.findByRole("textbox", { name: "Message" });
    client.become({ phase: "lost", attempt: 1, retryInMs: 250, cause: "unreachable" });
    expect(await screen.findByText("The gateway does not answer")).toBeTruthy();
    // Nobody knows whether anything goes on there.
    expect(screen.getByText(/It may have been stopped, or be out of reach/)).toBeTruthy();
    expect(document.body.textContent).not.toMatch(/goes on for a while/);
    client.become({ phase: "lost", attempt: 2, retryInMs: 500, cause: "crowded" });
    expect(await screen.findByText("Too many tabs are open")).toBeTruthy();
    expect(screen.queryByText("The gateway does not answer")).toBeNull();
    client.become({ phase: "open" });
    await waitFor(() => expect(screen.queryByText("Too many tabs are open")).toBeNull());
  });
});

test("a page goes by the time that the gateway says after each loss of the connection", async () => {
  let aheadMs = 0;
  const answer = () => ({ ...description, at: new Date(Date.now() + aheadMs).toISOString() });
  const client = new ScriptedClient({
    "session/describe": () => (Number.isNaN(aheadMs) ? Promise.reject(new ConnectionLost()) : answer()),
  });
  const { workspace } = await start(client);
  const asked = () => client.paramsOf("session/describe").length;
  const lose = () => client.become({ phase: "lost", attempt: 1, retryInMs: 250, cause: "unreachable" });
  const find = () => client.become({ phase: "open" });
  expect(asked()).toBe(1);
  aheadMs = 3_600_000;
  lose();
  lose();
  expect(asked()).toBe(1);
  find();
  find();
  expect(asked()).toBe(2);
  await waitFor(() => expect(now() - Date.now()).toBeGreaterThan(3_500_000));
  aheadMs = Number.NaN;
  lose();
  find();
  await waitFor(() => expect(asked()).toBe(3));
  expect(workspace.getState().problem).toBeNull();
  setClock(new Date().toISOString(), Date.now(), Date.now());
  workspace.stop();
});

describe("a conversation", () => {
  test("an example leads to a call that runs by itself and to words about it", async () => {
    const client = new ScriptedClient({
      "tools/invoke": ({ call }: ToolRequest) => resultOf(call.id, ok("ideas.md\nold.txt")),
    });
    const { user } = openShell(client, ['{"tool":"list_directory","arguments":{"path":"notes/"}}', "Two entries."]);
    await user.click(await screen.findByRole("button", { name: /what is in notes/ }));
    expect(await screen.findByText("Two entries.")).toBeTruthy();
    const card = screen.getByRole("article", { name: "list_directory: Done" });
    expect(within(card).getByText(/ideas\.md/)).toBeTruthy();
    await expectAccessible();
  });

  test("a waiting call is docked; the console opens for it, and nothing here can approve", async () => {
    requirement("002-34", "the shell shows the gateway's question and cannot answer it");
    requirement("002-18", "a call is shown as a card of its own");
    let release: (result: ToolResult) => void = () => undefined;
    const client = new ScriptedClient({
      "tools/invoke": () =>
        new Promise<ToolResult>((resolve) => {
          release = resolve;
        }),
    });
    const { user, opened } = openShell(client, [DELETE]);
    await user.type(await screen.findByRole("textbox", { name: "Message" }), "delete notes/old.txt{Enter}");
    await screen.findByRole("article", { name: "delete_file: Running" });
    client.notify("approvals/requested", { approval: approvalFor("call_1") });
    const dock = await screen.findByRole("region", { name: "Waiting for your approval" });
    expect(within(dock).getByText("Delete notes/old.txt")).toBeTruthy();
    expect(within(dock).getByRole("timer")).toBeTruthy();
    expect(
      within(dock)
        .getAllByRole("button")
        .map((button) => button.textContent),
    ).toEqual(["Open approval", "Cancel call", "Edit and call again"]);
    await expectAccessible();
    await user.click(within(dock).getByRole("button", { name: "Open approval" }));
    expect(opened).toEqual(["http://console.localhost:8765/approvals/apr_1#asked"]);
    // One that several people have to approve tells how far it is, without a reload.
    const needs = { presence: true, approvers: 2, requesterMayApprove: false };
    const given = [{ at: "2026-11-21T10:00:00.000Z" }];
    client.notify("approvals/changed", { approval: { ...approvalFor("call_1"), needs, given } });
    expect(await within(dock).findByText(/1 of 2 people have approved/)).toBeTruthy();
    client.notify("approvals/resolved", { approvalId: "apr_1", callId: "call_1", status: "denied" });
    client.notify("approvals/changed", { approval: { ...approvalFor("call_1"), needs } });
    expect(screen.queryByText(/0 of 2 people/)).toBeNull();
    release(
      resultOf("call_1", {
        outcome: "deniedByUser",
        reason: "denied",
        content: "",
        trust: "trusted",
        truncated: false,
      }),
    );
    expect(await screen.findByRole("article", { name: "delete_file: Denied" })).toBeTruthy();
    expect(screen.queryByRole("region", { name: "Waiting for your approval" })).toBeNull();
    // Once, in the answer: the card's state says it already.
    expect(await screen.findAllByText(/You said no/)).toHaveLength(1);
  });

  test("the send button is the stop button while an answer is under way", async () => {
    const client = new ScriptedClient({
      "tools/invoke": (_request: ToolRequest, signal?: AbortSignal) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const { user } = openShell(client, [DELETE]);
    await user.type(await screen.findByRole("textbox", { name: "Message" }), "delete notes/old.txt{Enter}");
    await user.click(await screen.findByRole("button", { name: "Stop" }));
    expect(await screen.findByRole("button", { name: "Send" })).toBeTruthy();
    expect(screen.getByRole("article", { name: "delete_file: Cancelled" })).toBeTruthy();
    expect(client.paramsOf("turns/cancel")).toHaveLength(1);
  });

  test("a button that goes away under the keyboard leaves it at the message box", async () => {
    const client = new ScriptedClient({
      "tools/invoke": (_request: ToolRequest, signal?: AbortSignal) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const { user } = openShell(client, [DELETE]);
    const box = await screen.findByRole("textbox", { name: "Message" });
    await user.type(box, "delete notes/old.txt{Enter}");
    (await screen.findByRole("button", { name: "Stop" })).focus();
    await user.keyboard("{Enter}");
    await screen.findByRole("button", { name: "Send" });
    expect(document.activeElement).toBe(box);
  });

  test("each step of a message is announced in its own words", async () => {
    const client = new ScriptedClient({
      "tools/invoke": ({ call }: ToolRequest) => resultOf(call.id, ok("a.csv")),
    });
    const said: string[] = [];
    const { user } = openShell(client, [
      '{"requestedActions":["show reports/","show notes/"]}',
      '{"tool":"list_directory","arguments":{"path":"reports/"}}',
      "One entry.",
      '{"tool":"list_directory","arguments":{"path":"notes/"}}',
      "Another one.",
    ]);
    const box = await screen.findByRole("textbox", { name: "Message" });
    for (const region of screen.getAllByRole("status"))
      new MutationObserver(() => said.push(region.textContent ?? "")).observe(region, {
        childList: true,
        subtree: true,
        characterData: true,
      });
    await user.type(box, "show reports/ and show notes/{Enter}");
    await screen.findByText("Another one.");
    await waitFor(() => expect(said).toContain("Complete."));
    const steps = said.filter((each) => each.startsWith("Step"));
    expect(steps).toContain("Step 2 of 2: show notes/");
  });
});

describe("status banners", () => {
  test("an interrupted answer offers to be continued or ended", async () => {
    const client = new ScriptedClient({
      "conversations/open": () => ({
        conversation,
        messages: [
          { role: "user", content: "hi", turnId: "trn_1", index: 0, provenance: "claimed", at: conversation.createdAt },
        ],
        openTurn: { turnId: "trn_1", turnIndex: 0, modelId: "sha256:small", snapshot: snapshotOf("trn_1") },
      }),
    });
    const page = pageOf(client, ['{"answer":"Hello."}']);
    page.environment.address.write("cnv_1");
    render(<Shell environment={page.environment} />);
    await screen.findByText("This answer was interrupted");
    expect(screen.getByRole("button", { name: "End it" })).toBeTruthy();
    await userEvent.setup().click(screen.getByRole("button", { name: "Continue" }));
    expect(await screen.findByText("Hello.")).toBeTruthy();
    expect(screen.queryByText("This answer was interrupted")).toBeNull();
  });

  test("a model that is starting is a calm banner, and the message goes through when it is up", async () => {
    const client = new ScriptedClient();
    const { environment } = pageOf(client, ['{"answer":"Awake."}']);
    let tries = 0;
    let wake: () => void = () => undefined;
    const starting = '{"error":{"code":"model_unavailable","message":"loading","reason":"starting"}}';
    const { fetch } = environment;
    render(
      <Shell
        environment={{
          ...environment,
          fetch: async (url, init) =>
            ++tries === 1 ? { ok: false, status: 503, body: null, text: async () => starting } : fetch(url, init),
          wait: () =>
            new Promise((resolve) => {
              wake = resolve;
            }),
        }}
      />,
    );
    await userEvent.setup().type(await screen.findByRole("textbox", { name: "Message" }), "hi{Enter}");
    expect(await screen.findByText("The model is starting")).toBeTruthy();
    wake();
    expect(await screen.findByText("Awake.")).toBeTruthy();
    expect(screen.queryByText("The model is starting")).toBeNull();
  });
});

describe("commands", () => {
  test("/tools, /inspect and /help answer on the page", async () => {
    requirement("002-23", "commands answer on the page without the model");
    const { user } = openShell(new ScriptedClient());
    const box = await screen.findByRole("textbox", { name: "Message" });
    await user.type(box, "/tools{Enter}");
    const list = await screen.findByRole("region", { name: "Tools of this conversation" });
    expect(within(list).getByText("Needs your passkey")).toBeTruthy();
    await user.type(box, "/inspect read_file{Enter}");
    const tool = within(await screen.findByRole("region", { name: "The tool read_file" }));
    expect(tool.getByText("Runs by itself")).toBeTruthy();
    expect(tool.getByText("path", { selector: "dt code" }).closest("dt")?.nextElementSibling?.textContent).toBe("text");
    await user.type(box, "/model ");
    expect(within(screen.getByRole("listbox", { name: "Models" })).getAllByRole("option")).toHaveLength(1);
    await user.clear(box);
    await user.type(box, "/model{Enter}");
    expect(within(await screen.findByRole("region", { name: "Models" })).getByText("answers here")).toBeTruthy();
    await user.type(box, "/help{Enter}");
    const help = await screen.findByRole("region", { name: "Commands" });
    for (const words of ["@…", "also …", "Paper clip", "/model [NAME]", "/grants"])
      expect(within(help).getByText(words)).toBeTruthy();
    expect(help.textContent).toContain("Enter sends, Shift+Enter starts a new line");
    await expectAccessible();
  });

  test("/grants opens what is in force, and in no conversation", async () => {
    const client = new ScriptedClient({ "grants/list": () => ({ grants: [] }) });
    const { user } = openShell(client);
    await user.type(await screen.findByRole("textbox", { name: "Message" }), "/grants{Enter}");
    expect(await screen.findByRole("dialog", { name: "Grants" })).toBeTruthy();
    expect(await screen.findByText("No grant is in force")).toBeTruthy();
    expect(client.paramsOf("conversations/open")).toEqual([]);
  });
});

describe("by keyboard", () => {
  test("Shift+Enter breaks the line, Enter sends", async () => {
    const client = new ScriptedClient();
    const { user } = openShell(client, ['{"answer":"Hi."}']);
    const box = await screen.findByRole("textbox", { name: "Message" });
    await user.type(box, "one{Shift>}{Enter}{/Shift}two");
    expect(client.paramsOf("turns/begin")).toHaveLength(0);
    await user.keyboard("{Enter}");
    await screen.findByText("Hi.");
    expect(client.paramsOf("turns/begin")).toMatchObject([{ message: { role: "user", content: "one\ntwo" } }]);
    expect(box).toHaveProperty("value", "");
  });

  test("the slash menu is walked with arrows, taken with Tab, left with Escape", async () => {
    const { user } = openShell(new ScriptedClient());
    const box = await screen.findByRole("textbox", { name: "Message" });
    await user.type(box, "/");
    const options = within(screen.getByRole("listbox", { name: "Commands" })).getAllByRole("option");
    expect(options[0]?.getAttribute("aria-selected")).toBe("true");
    await expectAccessible();
    await user.keyboard("{ArrowDown}{ArrowDown}{ArrowUp}{Tab}");
    expect(box).toHaveProperty("value", "/inspect ");
    expect(screen.queryByRole("listbox")).toBeNull();
    await user.clear(box);
    await user.type(box, "/t{Escape}");
    expect(screen.queryByRole("listbox")).toBeNull();
    await user.keyboard("{Enter}");
    expect((await screen.findByRole("alert")).textContent).toContain("There is no command /t");
  });

  test("F6 goes round the parts of the page", async () => {
    const { user } = openShell(new ScriptedClient());
    const box = await screen.findByRole("textbox", { name: "Message" });
    expect(document.activeElement).toBe(box);
    await user.keyboard("{F6}");
    expect(document.activeElement).toBe(screen.getByRole("navigation", { name: "Conversations" }));
    await user.keyboard("{Shift>}{F6}{/Shift}");
    expect(document.activeElement).toBe(box);
  });
});

describe("several models", () => {
  test("that are configured and not there are listed with the reason, and cannot be chosen", async () => {
    const missingModels = [{ name: "gone.gguf", why: "there is no such file" }];
    openShell(new ScriptedClient({ "session/describe": () => ({ ...description, missingModels }) }));
    const choice = await screen.findByRole("combobox", { name: "Model" });
    const gone = within(choice).getByRole("option", { name: "gone.gguf: not available, there is no such file" });
    expect((gone as HTMLOptionElement).disabled).toBe(true);
  });

  test("are chosen from by name, with where each runs and how well it was measured to call tools", async () => {
    const remote = { ...largeModel, id: "remote", displayName: "Large", local: false };
    const models = [
      { ...remote, toolCallRank: 95, seesImages: true as const },
      { ...remote, id: "own", displayName: "Own", local: true },
    ];
    const client = new ScriptedClient({
      "session/describe": () => ({ ...description, models: [...description.models, ...models] }),
    });
    const { user } = openShell(client);
    const choice = await screen.findByRole("combobox", { name: "Model" });
    expect(
      within(choice)
        .getAllByRole("option")
        .map((option) => option.textContent),
    ).toEqual(["Small", "Large (not on this machine), sees images, does 95 % of the test tasks", "Own"]);
    // Where who asks is answered: beneath the field, with the room that there is.
    expect(choice.compareDocumentPosition(screen.getByLabelText("Message"))).toBe(Node.DOCUMENT_POSITION_PRECEDING);
    await user.selectOptions(choice, "remote");
    expect((choice as HTMLSelectElement).value).toBe("remote");
    choice.focus();
    expect(document.activeElement).toBe(choice);
    await expectAccessible();
  });
});
