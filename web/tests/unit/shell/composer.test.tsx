// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { ToolRequest } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { snapshotOf, tools } from "../agent/scripted.ts";
import { approvalFor } from "./approvals.ts";
import { expectAccessible, openShell, prepareShell } from "./open-shell.tsx";
import { conversationOf, ScriptedClient } from "./scripted-client.ts";

prepareShell();

const [listing] = tools;
const writing = {
  ...listing,
  name: "write_file",
  paramSchema: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" } },
    required: ["path", "content"],
  },
};

/** Nothing is given up: a test's clock is the gateway's answer. */
const patient = { wait: () => new Promise<void>(() => undefined) };
const files = {
  entries: [
    { name: "notes", kind: "folder" },
    { name: "a.txt", kind: "file" },
  ],
};
const done = { outcome: "ok", content: "done", trust: "untrusted", truncated: false, structured: files };

describe("the message box", () => {
  test("completes a path that is begun with @, by keyboard, and the path is what is said", async () => {
    const client = new ScriptedClient({ "tools/invoke": () => done });
    const { user } = openShell(client, [], patient);
    const box = await screen.findByRole("textbox", { name: "Message" });
    await user.type(box, "read @");
    const list = await screen.findByRole("listbox", { name: "Files" });
    expect(
      within(list)
        .getAllByRole("option")
        .map((each) => each.textContent),
    ).toEqual(["notes/Folder", "a.txt"]);
    expect(box.getAttribute("aria-activedescendant")).toBe(within(list).getAllByRole("option")[0]?.id);
    await expectAccessible();
    await user.keyboard("{ArrowDown}{Enter}");
    expect((box as HTMLTextAreaElement).value).toBe("read a.txt ");
    expect(screen.queryByRole("listbox")).toBeNull();
  });

  test("lists its commands in plain words, and takes the keyboard back when a file was chosen", async () => {
    const { user } = openShell(new ScriptedClient({}), [], patient);
    const box = await screen.findByRole("textbox", { name: "Message" });
    await user.type(box, "/");
    const call = await screen.findByRole("option", { name: /^\/call/ });
    expect(call.textContent).toMatch(/^\/call NAME \{…\}/);
    expect(call.querySelector("mark")).toBeNull();
    await user.clear(box);
    screen.getByRole("button", { name: "Attach files" }).focus();
    fireEvent.change(screen.getByLabelText("Files to attach"), { target: { files: [new File(["a"], "a.txt")] } });
    expect(document.activeElement).toBe(box);
  });

  test("keeps what is written while a message is being sent, and sends it next when that is asked for", async () => {
    const answers: (() => void)[] = [];
    const client = new ScriptedClient({
      "turns/begin": async () => {
        await new Promise<void>((resolve) => answers.push(resolve));
        return { snapshot: snapshotOf("trn_1") };
      },
    });
    const { user } = openShell(client, [], patient);
    const box = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
    await user.type(box, "one{Enter}");
    await waitFor(() => expect(answers).toHaveLength(1));
    expect(box.value).toBe("");
    await user.type(box, "two{Enter}");
    expect(box.value).toBe("two");
    answers[0]?.();
    await waitFor(() => expect(box.value).toBe(""));
    const goesOn = () => JSON.stringify(client.paramsOf("turns/begin")) + document.body.textContent;
    await waitFor(() => expect(goesOn()).toContain("two"));
  });

  test("keeps what is written while a message is being sent that the gateway does not take", async () => {
    const refusals: (() => void)[] = [];
    const client = new ScriptedClient({
      "turns/begin": () => new Promise((_, reject) => refusals.push(() => reject(new RpcError(-32000, "no")))),
    });
    const { user } = openShell(client, [], patient);
    const box = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
    await user.type(box, "one{Enter}");
    await waitFor(() => expect(refusals).toHaveLength(1));
    await user.type(box, "two");
    refusals[0]?.();
    await waitFor(() => expect(box.value).toBe("one\ntwo"));
  });

  test("leaves a message and a draft where they belong if another conversation is opened while it is sent", async () => {
    const answers: (() => void)[] = [];
    const client = new ScriptedClient({
      "conversations/list": () => ({
        conversations: [conversationOf("cnv_1", "The first"), conversationOf("cnv_2", "The second")],
      }),
      "turns/begin": async () => {
        await new Promise<void>((resolve) => answers.push(resolve));
        return { snapshot: snapshotOf("trn_1") };
      },
    });
    const { user, environment } = openShell(client, [], patient);
    environment.drafts.write("cnv_2", "kept");
    await user.click(await screen.findByRole("button", { name: /^The first/ }));
    const box = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
    await user.type(box, "one{Enter}");
    await waitFor(() => expect(answers).toHaveLength(1));
    await user.type(box, "two{Enter}");
    await user.click(screen.getByRole("button", { name: /^The second/ }));
    await waitFor(() => expect(box.value).toBe("kept"));
    answers[0]?.();
    await waitFor(() => expect(environment.drafts.read("cnv_1")).toBe("two"));
    expect(environment.drafts.read("cnv_2")).toBe("kept");
    expect(box.value).toBe("kept");
    expect(client.paramsOf("turns/begin")).toHaveLength(1);
  });

  test("goes on into a folder, and Escape leaves the text as it is", async () => {
    const client = new ScriptedClient({ "tools/invoke": () => done });
    const { user } = openShell(client, [], patient);
    const box = await screen.findByRole("textbox", { name: "Message" });
    await user.type(box, "@no");
    await screen.findByRole("listbox");
    await user.keyboard("{Tab}");
    expect((box as HTMLTextAreaElement).value).toBe("@notes/");
    await waitFor(() =>
      expect(client.paramsOf("tools/invoke").at(-1)).toMatchObject({ call: { arguments: { path: "notes" } } }),
    );
    await screen.findByRole("listbox");
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("listbox")).toBeNull();
    expect((box as HTMLTextAreaElement).value).toBe("@notes/");
  });

  test("fills in a call by a form, says at the field what is wrong, and sends it as the person's own", async () => {
    const client = new ScriptedClient({
      "tools/describe": () => ({ tools: [writing] }),
      "tools/invoke": ({ call }: ToolRequest) => ({ ...done, callId: call.id }),
    });
    const { user } = openShell(client, [], patient);
    await user.type(await screen.findByRole("textbox", { name: "Message" }), "/call write");
    await user.click(await screen.findByRole("option", { name: /write_file/ }));
    const form = await screen.findByRole("dialog", { name: "Call write_file" });
    await user.click(within(form).getByRole("button", { name: "Call" }));
    const path = within(form).getByRole("textbox", { name: "path" });
    expect(path.getAttribute("aria-invalid")).toBe("true");
    expect(document.activeElement).toBe(path);
    await expectAccessible();
    await user.type(path, "b.txt");
    await user.click(within(form).getByRole("button", { name: "Call" }));
    await waitFor(() =>
      expect(client.paramsOf("tools/invoke")).toMatchObject([
        { call: { name: "write_file", arguments: { path: "b.txt", content: "" } } },
      ]),
    );
    expect(client.paramsOf("tools/invoke")[0]).not.toHaveProperty("model");
  });
});

test("a waiting call is withdrawn and made again with what the person has changed, in a turn of their own", async () => {
  const asked: ToolRequest[] = [];
  const client = new ScriptedClient({
    "tools/describe": () => ({ tools: [{ ...writing, name: "delete_file" }] }),
    "turns/begin": () => ({ snapshot: snapshotOf(`trn_${asked.length + 1}`) }),
    "tools/invoke": (request: ToolRequest, signal?: AbortSignal) => {
      asked.push(request);
      if (asked.length > 1) return { ...done, callId: request.call.id };
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  const { user } = openShell(client, ['{"tool":"delete_file","arguments":{"path":"notes/old.txt"}}'], {
    ...patient,
    newCallId: () => `call_${asked.length + 1}`,
  });
  await user.type(await screen.findByRole("textbox", { name: "Message" }), "delete notes/old.txt{Enter}");
  await screen.findByRole("article", { name: "delete_file: Running" });
  client.notify("approvals/requested", { approval: approvalFor("call_1") });
  await user.click(await screen.findByRole("button", { name: "Edit and call again" }));
  const form = await screen.findByRole("dialog", { name: "Edit the call of delete_file" });
  const path = within(form).getByRole("textbox", { name: /^path/ });
  expect((path as HTMLInputElement).value).toBe("notes/old.txt");
  await user.clear(path);
  await user.type(path, "notes/older.txt");
  await user.click(within(form).getByRole("button", { name: "Withdraw and call with these" }));
  await screen.findByRole("article", { name: "delete_file: Done" });
  expect(client.paramsOf("turns/cancel")).toEqual([{ conversationId: "cnv_1", turnId: "trn_1" }]);
  expect(asked[1]).toMatchObject({ turnId: "trn_2", call: { arguments: { path: "notes/older.txt" } } });
  expect(asked[1]).not.toHaveProperty("model");
  // Whoever decides about it is told what it was asked for.
  expect(client.paramsOf("turns/begin")[1]).toMatchObject({
    message: { content: "I changed what delete_file is called with. I had asked: delete notes/old.txt" },
  });
  // What the person said is shown as it is, without marks that would be read out.
  expect(await screen.findByText("I changed what delete_file is called with.")).toBeDefined();
});

test("how this works is told in three sentences, until it is put away once", async () => {
  const texts = new Map<string, string>();
  const kept = {
    read: (name: string) => texts.get(name) ?? "",
    write: (name: string, text: string) => void texts.set(name, text),
  };
  const { user } = openShell(new ScriptedClient(), [], { kept });
  const tour = await screen.findByRole("region", { name: "How this works" });
  expect(within(tour).getAllByRole("listitem")).toHaveLength(3);
  await expectAccessible();
  await user.click(within(tour).getByRole("button", { name: "Got it" }));
  expect(screen.queryByRole("region", { name: "How this works" })).toBeNull();
  expect(texts.get("tour")).toBe("seen");
});
