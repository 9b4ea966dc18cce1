// @vitest-environment jsdom
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { PasskeyView } from "../../../src/protocol/generated.ts";
import { ConnectionLost, RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { AGENT, ask, FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;

beforeEach(() => {
  gateway = new FakeGateway();
  // The gateway's own order: a verified answer makes the session, signing out ends it.
  for (const path of ["/enrol/verify", "/signin/verify"]) {
    gateway.replies[path] = () => {
      gateway.session = true;
      return { status: 204, body: undefined };
    };
  }
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const refused = (status: number, reason: string, message: string) => ({
  status,
  body: { error: { code: "refused", reason, message } },
});

const address = () => window.location.pathname + window.location.search;

describe("enrolling", () => {
  test("explains itself, registers a passkey and leads home, where the shell is one press away", async () => {
    gateway.session = false;
    openConsole(gateway, "/enrol#t=TOKEN");
    await userEvent.type(await screen.findByLabelText("Name of this passkey"), "laptop");
    await userEvent.click(screen.getByRole("button", { name: "Register a passkey" }));
    expect(await screen.findByText("Hello, Nora")).toBeDefined();
    expect(gateway.posts.map(({ body }) => body.token)).toEqual(["TOKEN", "TOKEN"]);
    expect(screen.getByRole("link", { name: "Open the shell in another window" }).getAttribute("href")).toBe(AGENT);
    // The used token is out of the address, and so out of the history and of a shoulder's sight.
    expect(window.location.hash).toBe("");
  });

  test("with a link that is used or too old says how to get another", async () => {
    gateway.session = false;
    gateway.replies["/enrol/options"] = () => refused(410, "enrolment", "this link was used already or has run out");
    openConsole(gateway, "/enrol#t=TOKEN");
    await userEvent.click(await screen.findByRole("button", { name: "Register a passkey" }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("This link was used already or has run out.");
    expect(alert.textContent).toContain("countersign enrol NAME");
  });

  test("without a token asks for the whole link", async () => {
    gateway.session = false;
    openConsole(gateway, "/enrol");
    expect(await screen.findByText("This enrolment link is not complete")).toBeDefined();
  });
});

describe("signing in", () => {
  test("comes back to what was asked for", async () => {
    gateway.session = false;
    gateway.questions = [ask()];
    openConsole(gateway, "/approvals/apr_1");
    await userEvent.click(await screen.findByRole("button", { name: "Sign in with a passkey" }));
    expect(await screen.findByText("Write 5 characters to notes/new.txt")).toBeDefined();
    expect(await screen.findByText("Everything that is signed")).toBeDefined();
    expect(address()).toBe("/approvals/apr_1");
  });

  test("that fails says so and can be tried again", async () => {
    gateway.session = false;
    gateway.environment.askPasskey.mockRejectedValueOnce(new DOMException("x", "NotAllowedError"));
    openConsole(gateway, "/signin");
    await userEvent.click(await screen.findByRole("button", { name: "Sign in with a passkey" }));
    expect((await screen.findByRole("alert")).textContent).toContain("You are not signed in");
    await userEvent.click(screen.getByRole("button", { name: "Sign in with a passkey" }));
    expect(await screen.findByText("Hello, Nora")).toBeDefined();
  });

  test("does not follow a link out of the console", async () => {
    openConsole(gateway, "/signin?next=https%3A%2F%2Fevil.example%2F");
    expect(await screen.findByText("Hello, Nora")).toBeDefined();
    expect(address()).toBe("/");
  });

  test("out leads to the sign-in page, also when the session was gone already", async () => {
    gateway.replies["/signout"] = () => refused(401, "not_signed_in", "sign in first");
    openConsole(gateway, "/grants");
    await userEvent.click(await screen.findByRole("button", { name: "Sign out" }));
    await waitFor(() => expect(gateway.posts.at(-1)?.path).toBe("/signout"));
    await waitFor(() => expect(address()).toMatch(/^\/(signin)?$/));
  });
});

describe("from the console to the shell", () => {
  const location = `${AGENT}/callback?code=c&state=abc`;

  beforeEach(() => {
    gateway.replies["/authorize"] = () => ({ status: 200, body: { location } });
  });

  test("takes one press, which the way through the agent's origin does not ask for again", async () => {
    openConsole(gateway, "/");
    await userEvent.click(await screen.findByRole("button", { name: "Start working" }));
    expect(gateway.environment.navigateTo).toHaveBeenCalledWith(`${AGENT}/#start`);
    cleanup();
    openConsole(gateway, "/authorize?state=abc");
    await waitFor(() => expect(gateway.environment.navigateTo).toHaveBeenLastCalledWith(location));
    expect(screen.getByRole("heading", { name: "Opening the shell" })).toBeDefined();
    expect(gateway.posts).toEqual([{ path: "/authorize", body: { state: "abc", label: "public" } }]);
  });

  test("carries one press only", async () => {
    gateway.environment.shellWish.note();
    openConsole(gateway, "/authorize?state=abc");
    await waitFor(() => expect(gateway.posts).toHaveLength(1));
    cleanup();
    openConsole(gateway, "/authorize?state=other");
    expect(await screen.findByRole("button", { name: "Continue to the shell" })).toBeDefined();
    expect(gateway.posts).toHaveLength(1);
  });

  test("asks again when the press was more than a minute ago, or comes out of the future", async () => {
    for (const at of ["2026-11-21T09:59:59.000Z", "2026-11-21T10:05:00.000Z", "", "x"]) {
      gateway.stored.set("shell-wish", at.startsWith("2") ? String(Date.parse(at)) : at);
      openConsole(gateway, "/authorize?state=abc");
      expect(await screen.findByRole("button", { name: "Continue to the shell" })).toBeDefined();
      cleanup();
    }
    expect(gateway.posts).toEqual([]);
  });

  test("says what went wrong, and lets the person try again", async () => {
    gateway.replies["/authorize"] = () => refused(410, "state", "this sign-in is unknown or too old");
    gateway.environment.shellWish.note();
    openConsole(gateway, "/authorize?state=abc");
    expect((await screen.findByRole("alert")).textContent).toContain("unknown or too old");
    expect(screen.getByRole("button", { name: "Continue to the shell" })).toBeDefined();
  });

  test("is one step with the sign-in, unless the person wants to choose a label", async () => {
    gateway.session = false;
    openConsole(gateway, "/authorize?state=abc");
    await userEvent.click(await screen.findByRole("button", { name: "Sign in and open the shell" }));
    await waitFor(() => expect(gateway.environment.navigateTo).toHaveBeenCalledWith(location));
    cleanup();
    gateway.session = false;
    openConsole(gateway, "/authorize?state=abc");
    await userEvent.click(await screen.findByRole("button", { name: "Sign in and choose a label first" }));
    expect(await screen.findByLabelText("Label to start at")).toBeDefined();
  });

  test("is not what signing in for another page does", async () => {
    gateway.session = false;
    openConsole(gateway, "/grants");
    await userEvent.click(await screen.findByRole("button", { name: "Sign in with a passkey" }));
    await screen.findByRole("heading", { level: 1, name: "Grants" });
    expect(gateway.environment.shellWish.take()).toBe(false);
  });
});

describe("giving the shell a session", () => {
  test("shows who is signed in, and goes on only when asked to", async () => {
    const location = `${AGENT}/callback?code=c&state=abc`;
    gateway.replies["/authorize"] = () => ({ status: 200, body: { location } });
    openConsole(gateway, "/authorize?state=abc");
    const go = await screen.findByRole("button", { name: "Continue to the shell" });
    expect(screen.getByText("Nora", { selector: "dd" })).toBeDefined();
    expect(gateway.posts).toEqual([]);
    await userEvent.click(go);
    await waitFor(() => expect(gateway.environment.navigateTo).toHaveBeenCalledWith(location));
    expect(gateway.posts).toEqual([{ path: "/authorize", body: { state: "abc", label: "public" } }]);
  });

  test("starts it at a higher label when that was chosen, and says what a label does", async () => {
    gateway.replies["/authorize"] = () => ({ status: 200, body: { location: `${AGENT}/callback?code=c&state=abc` } });
    openConsole(gateway, "/authorize?state=abc");
    const label = await screen.findByLabelText<HTMLSelectElement>("Label to start at");
    expect([...label.options].map((option) => option.value)).toEqual(["public", "internal", "confidential", "high"]);
    expect(label.value).toBe("public");
    expect(screen.getByText(/at high, no network and only models on this machine/)).toBeDefined();
    await userEvent.selectOptions(label, "confidential");
    await userEvent.click(screen.getByRole("button", { name: "Continue to the shell" }));
    await waitFor(() => expect(gateway.environment.navigateTo).toHaveBeenCalled());
    expect(gateway.posts).toEqual([{ path: "/authorize", body: { state: "abc", label: "confidential" } }]);
  });

  test("does not go where the shell is not", async () => {
    gateway.replies["/authorize"] = () => ({ status: 200, body: { location: "https://evil.example/callback" } });
    openConsole(gateway, "/authorize?state=abc");
    await userEvent.click(await screen.findByRole("button", { name: "Continue to the shell" }));
    expect((await screen.findByRole("alert")).textContent).toContain("not the shell's");
    expect(gateway.environment.navigateTo).not.toHaveBeenCalled();
  });

  test("asks to sign in first, and comes back with its state", async () => {
    gateway.session = false;
    openConsole(gateway, "/authorize?state=abc");
    await userEvent.click(await screen.findByRole("button", { name: "Sign in and choose a label first" }));
    expect(await screen.findByRole("button", { name: "Continue to the shell" })).toBeDefined();
    expect(address()).toBe("/authorize?state=abc");
  });
});

describe("connecting a program", () => {
  const asked = { client: "editor", destination: "http://127.0.0.1:4321" };
  const open = (location: string) => {
    gateway.replies["/connect/describe"] = () => ({ status: 200, body: asked });
    gateway.replies["/connect/decide"] = () => ({ status: 200, body: { location } });
    openConsole(gateway, "/connect?request=abc");
  };

  test.each([
    ["Allow", "allow"],
    ["Do not allow", "deny"],
  ])("shows what it claims and where it leads, and does nothing before %s", async (button, decision) => {
    const location = `${asked.destination}/callback?code=c`;
    open(location);
    const go = await screen.findByRole("button", { name: button });
    expect(screen.getByText("editor", { selector: "dd" })).toBeDefined();
    expect(screen.getByText(asked.destination)).toBeDefined();
    expect(gateway.posts.map((post) => post.path)).toEqual(["/connect/describe"]);
    await userEvent.click(go);
    await waitFor(() => expect(gateway.environment.navigateTo).toHaveBeenCalledWith(location));
    expect(gateway.posts.at(-1)).toEqual({ path: "/connect/decide", body: { request: "abc", decision } });
  });

  test("goes nowhere but where it said", async () => {
    open("http://127.0.0.1:43210/callback?code=c");
    await userEvent.click(await screen.findByRole("button", { name: "Allow" }));
    expect((await screen.findByRole("alert")).textContent).toContain("another address");
    expect(gateway.environment.navigateTo).not.toHaveBeenCalled();
  });

  test("says that a request is too old", async () => {
    gateway.replies["/connect/describe"] = () => ({
      status: 404,
      body: { error: { code: "not_found", message: "this request is unknown or too old" } },
    });
    openConsole(gateway, "/connect?request=abc");
    expect(await screen.findByText("Start again at the program that sent you here.")).toBeDefined();
  });

  test("that is asked for by no address says so, and asks the gateway nothing", async () => {
    openConsole(gateway, "/connect");
    expect(await screen.findByText("This address is not complete.")).toBeDefined();
    expect(screen.getByText("Start again at the program that sent you here.")).toBeDefined();
    expect(gateway.posts).toEqual([]);
  });
});

describe("passkeys", () => {
  const passkey = (id: string, name: string): PasskeyView => ({
    id,
    name,
    createdAt: "2026-11-01T10:00:00.000Z",
    transports: ["internal"],
    backedUp: id === "one",
  });

  const list = (...passkeys: PasskeyView[]) => {
    gateway.handlers["passkeys/list"] = () => ({ passkeys });
  };

  test("are listed, and the last one cannot be removed", async () => {
    list(passkey("one", "laptop"));
    openConsole(gateway, "/passkeys");
    const remove = await screen.findByRole("button", { name: "Remove" });
    await userEvent.click(remove);
    expect(screen.queryByText("Remove this passkey?")).toBeNull();
    const reason = document.getElementById(remove.getAttribute("aria-describedby") ?? "");
    expect(reason?.textContent).toContain("last passkey cannot be removed");
  });

  test("get another name", async () => {
    list(passkey("one", "laptop"));
    gateway.handlers["passkeys/rename"] = () => ({});
    openConsole(gateway, "/passkeys");
    await userEvent.click(await screen.findByRole("button", { name: "Rename" }));
    const dialog = await screen.findByRole("dialog");
    await userEvent.clear(within(dialog).getByLabelText("Name"));
    await userEvent.type(within(dialog).getByLabelText("Name"), "blue key");
    await userEvent.click(within(dialog).getByRole("button", { name: "Rename" }));
    await waitFor(() => expect(gateway.asked("passkeys/rename")).toEqual([{ passkeyId: "one", name: "blue key" }]));
  });

  test("are removed after a new sign-in with one of them, when the gateway asks for it", async () => {
    list(passkey("one", "laptop"), passkey("two", "phone"));
    gateway.handlers["passkeys/remove"] = () => {
      if (gateway.posts.some(({ path }) => path === "/signin/verify")) return {};
      throw new RpcError(-32010, "confirm with one of your passkeys first", "stepUpRequired");
    };
    openConsole(gateway, "/passkeys");
    const [, second] = await screen.findAllByRole("button", { name: "Remove" });
    await userEvent.click(second as HTMLElement);
    const dialog = await screen.findByRole("dialog");
    await userEvent.click(within(dialog).getByRole("button", { name: "Remove it" }));
    await userEvent.click(await within(dialog).findByRole("button", { name: "Confirm with a passkey and remove" }));
    await waitFor(() => expect(gateway.asked("passkeys/remove")).toHaveLength(2));
    expect(gateway.asked("passkeys/remove").at(-1)).toEqual({ passkeyId: "two" });
  });

  test("are removed though the answer closed the socket that the removal was sent on", async () => {
    list(passkey("one", "laptop"), passkey("two", "phone"));
    let sent = 0;
    gateway.handlers["passkeys/remove"] = () => {
      sent += 1;
      if (sent === 1) throw new RpcError(-32004, "confirm with one of your passkeys first", "stepUpRequired");
      if (sent === 2) throw new ConnectionLost();
      return {};
    };
    openConsole(gateway, "/passkeys");
    const [, second] = await screen.findAllByRole("button", { name: "Remove" });
    await userEvent.click(second as HTMLElement);
    const dialog = await screen.findByRole("dialog");
    await userEvent.click(within(dialog).getByRole("button", { name: "Remove it" }));
    await userEvent.click(await within(dialog).findByRole("button", { name: "Confirm with a passkey and remove" }));
    await waitFor(() => expect(gateway.asked("passkeys/remove")).toHaveLength(3));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  test("are added after a new sign-in with one of them, when the gateway asks for it", async () => {
    list(passkey("one", "laptop"));
    gateway.replies["/passkeys/options"] = () =>
      gateway.posts.some(({ path }) => path === "/signin/verify")
        ? { status: 200, body: { challenge: "c" } }
        : refused(403, "stepUpRequired", "confirm with one of your passkeys first");
    openConsole(gateway, "/passkeys");
    await userEvent.type(await screen.findByLabelText("Name of the new passkey"), "phone");
    await userEvent.click(screen.getByRole("button", { name: "Add a passkey" }));
    expect((await screen.findByRole("alert")).textContent).toContain("Confirm with a passkey first");
    await userEvent.click(screen.getByRole("button", { name: "Confirm with a passkey and add" }));
    await waitFor(() => expect(gateway.posts.at(-1)?.path).toBe("/passkeys/verify"));
    expect(gateway.posts.at(-1)?.body).toEqual({ credential: { id: "new" }, name: "phone" });
  });
});
