// @vitest-environment jsdom
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { FakeSource, proposedTool } from "./fake-sources.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;
let source: FakeSource;

beforeEach(() => {
  gateway = new FakeGateway();
  source = new FakeSource(gateway, [proposedTool("read")]);
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const asked = (method: string) => gateway.calls.filter((call) => call.method === method).map(({ params }) => params);
const card = async () => within(await screen.findByRole("region", { name: "Sign-in" }));

describe("a source that wants a sign-in", () => {
  beforeEach(() => {
    source.changes = { state: "needsSignIn", why: "the server wants a person to sign in", signIn: {} };
  });

  test("shows where the browser would go, and goes there only when told to", async () => {
    const location = "https://login.example/authorize?state=a";
    gateway.handlers["sources/sign-in"] = () => ({ location, server: "https://login.example" });
    openConsole(gateway, "/sources/notes");
    expect((await screen.findAllByText("needs a sign-in")).length).toBe(1);
    await userEvent.click((await card()).getByRole("button", { name: "Sign in" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Sign in to notes" }));
    expect(dialog.getAllByText("https://login.example").length).toBe(2);
    expect(gateway.environment.navigateTo).not.toHaveBeenCalled();
    await userEvent.click(dialog.getByRole("button", { name: "Continue" }));
    expect(gateway.environment.navigateTo).toHaveBeenCalledWith(location);
  });

  test("says why it cannot begin", async () => {
    gateway.handlers["sources/sign-in"] = () => {
      throw new RpcError(-32004, "the authorization server does not offer PKCE with S256", "signInFailed");
    };
    openConsole(gateway, "/sources/notes");
    await userEvent.click((await card()).getByRole("button", { name: "Sign in" }));
    expect(await screen.findByText(/does not offer PKCE with S256/)).toBeDefined();
  });

  test.each(["javascript:alert(1)", "not an address"])("never goes to %s", async (location) => {
    gateway.handlers["sources/sign-in"] = () => ({ location, server: "https://login.example" });
    openConsole(gateway, "/sources/notes");
    await userEvent.click((await card()).getByRole("button", { name: "Sign in" }));
    expect(await screen.findByText(/no browser can go to/)).toBeDefined();
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(gateway.environment.navigateTo).not.toHaveBeenCalled();
  });
});

describe("a source that somebody signed in to", () => {
  beforeEach(() => {
    source.changes = { signIn: { server: "https://login.example", at: "2026-11-21T09:30:00.000Z" } };
  });

  test("says where and since when, and signs out once that is confirmed", async () => {
    gateway.handlers["sources/sign-out"] = () => {
      source.changes = { state: "needsSignIn", signIn: {} };
      return { source: source.view(), why: "the revocation endpoint answered with status 503" };
    };
    openConsole(gateway, "/sources/notes");
    const shown = await card();
    expect(shown.getByText("https://login.example")).toBeDefined();
    await userEvent.click(shown.getByRole("button", { name: "Sign out" }));
    expect(asked("sources/sign-out")).toEqual([]);
    const dialog = within(await screen.findByRole("dialog", { name: "Sign out of notes?" }));
    await userEvent.click(dialog.getByRole("button", { name: "Sign out" }));
    expect(await screen.findByText(/did not void the tokens: the revocation endpoint/)).toBeDefined();
    expect((await card()).getByRole("button", { name: "Sign in" })).toBeDefined();
  });

  test("a source that nobody signs in to has no such part", async () => {
    source.changes = {};
    openConsole(gateway, "/sources/notes");
    await screen.findByRole("grid", { name: "Tools of notes" });
    expect(screen.queryByRole("region", { name: "Sign-in" })).toBeNull();
  });
});

describe("coming back from the authorization server", () => {
  const address = "/sources/notes/callback?code=c-1&state=s-1&iss=https%3A%2F%2Flogin.example";

  test("hands on what was brought, once, and keeps no code in the history", async () => {
    gateway.handlers["sources/finish-sign-in"] = () => source.view();
    openConsole(gateway, address);
    expect(await screen.findByText("You are signed in")).toBeDefined();
    expect(asked("sources/finish-sign-in")).toEqual([
      { name: "notes", state: "s-1", code: "c-1", issuer: "https://login.example" },
    ]);
    await waitFor(() => expect(window.location.search).toBe(""));
    expect(screen.getByRole("link", { name: "To the source" }).getAttribute("href")).toBe("/sources/notes");
  });

  test("says in plain words that it failed", async () => {
    gateway.handlers["sources/finish-sign-in"] = () => {
      throw new RpcError(
        -32004,
        "this sign-in was not begun here, was used before, or took too long",
        "unknownAttempt",
      );
    };
    openConsole(gateway, address);
    expect(await screen.findByText("You are not signed in")).toBeDefined();
    expect(screen.getByText(/was not begun here/)).toBeDefined();
    expect(asked("sources/finish-sign-in").length).toBe(1);
  });

  test("an error of the authorization server is handed on as well", async () => {
    gateway.handlers["sources/finish-sign-in"] = () => source.view();
    openConsole(gateway, "/sources/notes/callback?error=access_denied&state=s-2");
    await screen.findByText("You are signed in");
    expect(asked("sources/finish-sign-in")).toEqual([{ name: "notes", state: "s-2", error: "access_denied" }]);
  });

  test("an address without a state is sent to nobody", async () => {
    openConsole(gateway, "/sources/notes/callback?code=c-1");
    expect(await screen.findByText("There is nothing to finish here")).toBeDefined();
    expect(asked("sources/finish-sign-in")).toEqual([]);
  });
});
