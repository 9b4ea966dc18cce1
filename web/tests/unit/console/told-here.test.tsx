// @vitest-environment jsdom

import { createHash } from "node:crypto";
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { guessName } from "../../../src/features/console/push/device-name.ts";
import type { PushDevice } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

const KEY = Buffer.alloc(65, 4).toString("base64url");
const ENDPOINT = "https://push.example/1";
const KEYS = { p256dh: "PUBLIC", auth: "AUTH" };
const digestOf = (endpoint: string) =>
  createHash("sha256").update(`${endpoint}\n${KEYS.p256dh}\n${KEYS.auth}`).digest("hex");

/** A browser's push, as far as a page sees it. */
class FakePush {
  bound: Uint8Array | null = null;
  readonly forgotten: string[] = [];
  readonly register = vi.fn(async () => this.registration);
  subscribe = async ({ applicationServerKey }: PushSubscriptionOptionsInit) => {
    this.bound = applicationServerKey as Uint8Array;
    return this.subscription();
  };

  readonly registration = {
    pushManager: {
      getSubscription: async () => (this.bound === null ? null : this.subscription()),
      subscribe: (options: PushSubscriptionOptionsInit) => this.subscribe(options),
    },
  };

  endpoint = ENDPOINT;

  subscription() {
    return {
      toJSON: () => ({ endpoint: this.endpoint, keys: KEYS }),
      options: { applicationServerKey: this.bound },
      unsubscribe: async () => {
        this.forgotten.push(ENDPOINT);
        this.bound = null;
      },
    };
  }
}

/** What the worker says to its pages. */
let fromWorker: EventTarget;
let gateway: FakeGateway;
let push: FakePush;
let devices: PushDevice[];
let permission: NotificationPermission;

beforeEach(() => {
  gateway = new FakeGateway();
  push = new FakePush();
  devices = [];
  permission = "default";
  fromWorker = new EventTarget();
  localStorage.clear();
  const state = () => ({ configured: true, key: KEY, devices });
  gateway.handlers["push/list"] = state;
  gateway.handlers["push/add"] = ({ name, endpoint }) => {
    devices = [
      ...devices,
      { id: "dev_1", name, service: "push.example", digest: digestOf(endpoint), addedAt: "2026-11-21T10:00:30.000Z" },
    ];
    return state();
  };
  gateway.handlers["push/remove"] = ({ device }) => {
    devices = devices.filter(({ id }) => id !== device);
    return state();
  };
  const serviceWorker = {
    register: push.register,
    ready: Promise.resolve(push.registration),
    getRegistration: async () => push.registration,
    addEventListener: fromWorker.addEventListener.bind(fromWorker),
    removeEventListener: fromWorker.removeEventListener.bind(fromWorker),
  };
  Object.defineProperty(navigator, "serviceWorker", { value: serviceWorker, configurable: true });
  vi.stubGlobal("PushManager", class {});
  vi.stubGlobal("Notification", {
    get permission() {
      return permission;
    },
    requestPermission: async () => {
      if (permission === "default") permission = "granted";
      return permission;
    },
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  Reflect.deleteProperty(navigator, "serviceWorker");
});

const region = () => screen.findByRole("region", { name: "Told when a question waits" });
const button = () => screen.findByRole("button", { name: "Tell me on this device" });

describe("a device that is told of questions", () => {
  test("is on the list once it has subscribed with the gateway's key, and goes from both when it is removed", async () => {
    openConsole(gateway, "/passkeys");
    await userEvent.click(await button());
    const card = within(await region());
    await card.findByText("this device");
    expect(push.register).toHaveBeenCalledWith("/push-worker.js?en", { scope: "/", updateViaCache: "none" });
    expect(Buffer.from(push.bound ?? []).toString("base64url")).toBe(KEY);
    expect(screen.queryByRole("button", { name: "Tell me on this device" })).toBeNull();
    await userEvent.click(card.getByRole("button", { name: /^Remove/ }));
    await button();
    expect(push.forgotten).toEqual([ENDPOINT]);
  });

  test("subscribes anew where it was bound to another key, and does not where it was bound to this one", async () => {
    push.bound = new Uint8Array(65).fill(9);
    openConsole(gateway, "/passkeys");
    await userEvent.click(await button());
    await within(await region()).findByText("this device");
    expect(push.forgotten).toEqual([ENDPOINT]);
    devices = [];
    cleanup();
    push.subscribe = vi.fn();
    openConsole(gateway, "/passkeys");
    await userEvent.click(await button());
    await within(await region()).findByText("this device");
    expect(push.subscribe).not.toHaveBeenCalled();
  });

  test("is sent a test message when the person asks for it, and the page says how that went", async () => {
    openConsole(gateway, "/passkeys");
    await userEvent.click(await button());
    gateway.handlers["push/test"] = () => ({});
    await userEvent.click(await screen.findByRole("button", { name: "Send a test message" }));
    await screen.findByText(/A notification should appear/);
    expect(gateway.asked("push/test")).toEqual([{ device: "dev_1" }]);
    gateway.handlers["push/test"] = () => {
      throw new RpcError(-32004, "those were enough tests for now; wait a minute", "tooManyTests");
    };
    await userEvent.click(screen.getByRole("button", { name: "Send a test message" }));
    await screen.findByText("Those were enough tests for now; wait a minute.");
  });

  test("whose subscription the browser changed is told again, in its old place, as soon as a page knows", async () => {
    openConsole(gateway, "/passkeys");
    await userEvent.click(await button());
    await within(await region()).findByText("this device");
    push.endpoint = "https://push.example/2";
    fromWorker.dispatchEvent(new Event("message"));
    await waitFor(() => expect(devices.map(({ digest }) => digest)).toEqual([digestOf("https://push.example/2")]));
    await within(await region()).findByText("this device");
    // And where no page was open meanwhile, by the next one.
    cleanup();
    push.endpoint = "https://push.example/3";
    push.bound = null;
    openConsole(gateway, "/passkeys");
    await waitFor(() => expect(devices.map(({ digest }) => digest)).toEqual([digestOf("https://push.example/3")]));
  });

  test("that its person took off the list, or that is somebody else's now, is not added by itself", async () => {
    openConsole(gateway, "/passkeys");
    await userEvent.click(await button());
    await within(await region()).findByText("this device");
    cleanup();
    devices = [];
    push.endpoint = "https://push.example/2";
    openConsole(gateway, "/passkeys");
    await button();
    await waitFor(() => expect(localStorage.getItem("countersign.push")).toBeNull());
    expect(gateway.asked("push/add")).toHaveLength(1);
  });

  test("is another one where its digest is, and is removed without touching this browser", async () => {
    devices = [
      {
        id: "dev_9",
        name: "Tablet",
        service: "push.example",
        digest: "f".repeat(64),
        addedAt: "2026-11-20T10:00:00.000Z",
      },
    ];
    push.bound = new Uint8Array(65).fill(4);
    openConsole(gateway, "/passkeys");
    await userEvent.click(await screen.findByRole("button", { name: "Remove Tablet" }));
    await waitFor(() => expect(screen.queryByText("Tablet")).toBeNull());
    expect(push.forgotten).toEqual([]);
  });

  test("is none where the person says no, the push service fails or the gateway refuses, and the page says so", async () => {
    permission = "denied";
    openConsole(gateway, "/passkeys");
    await screen.findByText(/are blocked in this browser/);
    await userEvent.click(await button());
    await screen.findByText(/The browser shows no notifications of this page/);
    permission = "granted";
    push.subscribe = () => Promise.reject(new DOMException("Registration failed", "AbortError"));
    await userEvent.click(await button());
    await screen.findByText(/push service gave no address/);
    push.bound = new Uint8Array(65).fill(4);
    gateway.handlers["push/add"] = () => {
      throw new RpcError(-32003, "there are 10 devices already; remove one of them first", "tooManyDevices");
    };
    await userEvent.click(await button());
    await screen.findByText("There are 10 devices already; remove one of them first.");
    expect(devices).toEqual([]);
  });

  test("cannot be added in a browser without push, which says what a phone of Apple needs", async () => {
    Reflect.deleteProperty(window, "PushManager");
    vi.unstubAllGlobals();
    openConsole(gateway, "/passkeys");
    await screen.findByText(/add the console to the home screen first/);
    expect(screen.queryByRole("button", { name: "Tell me on this device" })).toBeNull();
  });

  test("is not spoken of where no key is configured", async () => {
    gateway.handlers["push/list"] = () => ({ configured: false, devices: [] });
    openConsole(gateway, "/passkeys");
    await screen.findByRole("region", { name: "Add a phone" });
    await waitFor(() => expect(gateway.asked("push/list")).toHaveLength(1));
    expect(screen.queryByText("Told when a question waits")).toBeNull();
  });
});

test.each([
  ["Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome, Android"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile/15E148 Safari/604.1", "Safari, iPhone"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge, Windows"],
  ["something of its own", "This device"],
])("a device gets a name from what its browser says: %s", (agent, name) => {
  expect(guessName(agent)).toBe(name);
});
