import type { Fetch } from "../../agent/chat.ts";
import { isoDay } from "../../agent/iso-day.ts";
import { t } from "../../language/t.ts";
import { connectTo, wait } from "../../protocol/browser.ts";
import type { AgentConnection, AgentMethods, AgentNotifications } from "../../protocol/contract.ts";
import type { Socket } from "../../protocol/rpc.ts";
import { saveFile } from "../../ui/save-file.ts";
import type { ShrinkImage } from "./attachments.ts";
import { browserNotifier, type Notifier } from "./notifier.ts";

/** The part of the connection that the shell uses. */
export type AgentClient = Pick<
  AgentConnection,
  "state" | "start" | "stop" | "retryNow" | "onState" | "onRebind" | "on" | "call"
>;

/** The loop that runs turns, with what the shell puts around it. */
export type Loop = typeof import("./loop.ts");

/** Everything that the shell needs from the browser, so that a test can replace it. */
export interface ShellEnvironment {
  /** A new connection to the gateway, not started. */
  createClient(): AgentClient;
  /** The loop that runs turns. Rejects with PartMissing when it cannot be had. */
  loadLoop(): Promise<Loop>;
  /** Do something when the page has nothing better to do. */
  whenIdle(work: () => void): void;
  readonly fetch: Fetch;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** The day where the person is, `2026-11-21`. */
  today(): string;
  newCallId(): string;
  /** Ends the session on the gateway. */
  signOut(): Promise<void>;
  /** Run `paint` before the next frame, once, however often it is asked for. */
  nextFrame(paint: () => void): void;
  /** Show a page of the console in a window of its own. */
  openConsole(url: string): void;
  /** Hand a text to the person as a file. */
  saveFile(name: string, text: string): void;
  readonly shrinkImage: ShrinkImage;
  /** Whether the gateway refused the way back from the console that led to this page. */
  readonly signInFailed: boolean;
  /** Whether the console sent the person here to begin at once, with a sign-in if there is no session. */
  readonly beginsAtOnce: boolean;
  /** Go and sign in on the console, and come back to the conversation that is open. */
  signIn(): void;
  readonly address: ConversationAddress;
  readonly drafts: Drafts;
  readonly kept: KeptTexts;
  /** Tells the names of kept texts that another page of the shell has changed; null where all of them may have changed. */
  onKeptElsewhere(listener: (name: string | null) => void): () => void;
  /** The same for this tab alone, until it is closed. */
  readonly keptInTab: KeptTexts;
  readonly notifier: Notifier;
  /** Let two notes be heard, once for each name in all pages of the shell together, where the browser allows sound. */
  ring(name: string): void;
}

/** Which conversation the address bar names, so that a reload comes back to it. */
export interface ConversationAddress {
  read(): string | null;
  write(conversationId: string | null): void;
  onChange(listener: () => void): () => void;
}

/** What was typed and not sent yet. Kept in this browser only, and never more than text. */
export interface Drafts {
  read(conversationId: string | null): string;
  write(conversationId: string | null, text: string): void;
}

/** A part of the page that is loaded on demand did not come: the gateway is away, or is a newer one with other parts. */
export class PartMissing extends Error {
  override readonly name = "PartMissing";

  constructor() {
    super(t`A part of this page could not be loaded. Reload the page; what you have typed is kept.`);
  }
}

/** Small texts that this browser keeps for the person: what is pinned, what is to be sent next. An empty one is none. */
export interface KeptTexts {
  read(name: string): string;
  write(name: string, text: string): void;
}

const CONSOLE_WINDOW = "countersign-console";
const CONSOLE_WINDOW_FEATURES = "popup,width=560,height=820";

/** The browser itself. */
export function browserShell(): ShellEnvironment {
  restoreAddress();
  const kept = sharedTexts();
  return {
    createClient: () =>
      connectTo<AgentMethods, AgentNotifications>({
        origin: window.location.origin,
        openSocket: (url, subprotocol) => new WebSocket(url, subprotocol) as Socket,
        fetch: (url) => fetch(url, { cache: "no-store" }),
      }),
    loadLoop: async () => {
      try {
        return await import("./loop.ts");
      } catch {
        throw new PartMissing();
      }
    },
    whenIdle: (work) => {
      // Safari has no such callback.
      if ("requestIdleCallback" in window) window.requestIdleCallback(work);
      else setTimeout(work);
    },
    fetch: (url, init) => fetch(url, { ...init, redirect: "error", cache: "no-store" }),
    wait,
    now: () => performance.now(),
    today: () => isoDay(new Date()),
    newCallId: () => `call_${crypto.randomUUID()}`,
    signOut: async () => {
      await fetch("/logout", { method: "POST", redirect: "manual" });
    },
    nextFrame: (paint) => {
      // A hidden page is given no frames, and still has to keep up.
      if (document.hidden) setTimeout(paint);
      else requestAnimationFrame(paint);
    },
    openConsole: (url) => void window.open(url, CONSOLE_WINDOW, CONSOLE_WINDOW_FEATURES),
    saveFile: saveText,
    shrinkImage: async (...given) => (await import("./shrink-image.ts")).shrinkImage(...given),
    signInFailed: takeRefusal(),
    beginsAtOnce: takeStart(),
    signIn: () => {
      keepAddress();
      window.location.replace("/login");
    },
    address: {
      read: readAddress,
      write: (conversationId) => {
        if (readAddress() !== conversationId)
          window.history.pushState(null, "", conversationId === null ? "/" : `/c/${conversationId}`);
      },
      onChange: (listener) => {
        window.addEventListener("popstate", listener);
        return () => window.removeEventListener("popstate", listener);
      },
    },
    drafts: draftsIn(kept),
    kept,
    onKeptElsewhere: kept.onElsewhere,
    keptInTab: storedTexts(() => window.sessionStorage),
    notifier: browserNotifier(kept),
    ring: (name) => {
      import("./chime.ts").then(
        ({ ring }) => ring(name),
        // The gateway is away: the question stands on the page all the same.
        () => undefined,
      );
    },
  };
}

function saveText(name: string, text: string): void {
  saveFile(name, new Blob([text], { type: name.endsWith(".json") ? "application/json" : "text/markdown" }));
}

function readAddress(): string | null {
  const [, id] = /^\/c\/([\w-]+)$/.exec(window.location.pathname) ?? [];
  return id ?? null;
}

/** The gateway shows this page at `/callback` only when it refused the code there. The address is then of no use. */
function takeRefusal(): boolean {
  const refused = window.location.pathname === "/callback";
  if (refused) window.history.replaceState(null, "", "/");
  return refused;
}

/** The console's button leads to `/#start`. A reload must not begin again. */
function takeStart(): boolean {
  const begins = window.location.hash === "#start";
  if (begins) window.history.replaceState(null, "", window.location.pathname);
  return begins;
}

const KEPT_ADDRESS = "address-before-sign-in";

/** Signing in ends at `/`; the conversation that was open is remembered by this window until then. */
function keepAddress(): void {
  const conversationId = readAddress();
  try {
    if (conversationId !== null) window.sessionStorage.setItem(KEPT_ADDRESS, conversationId);
  } catch {
    // Storage is forbidden: the person finds the conversation in the list.
  }
}

function restoreAddress(): void {
  try {
    const conversationId = window.sessionStorage.getItem(KEPT_ADDRESS);
    window.sessionStorage.removeItem(KEPT_ADDRESS);
    if (conversationId !== null && window.location.pathname === "/")
      window.history.replaceState(null, "", `/c/${conversationId}`);
  } catch {
    // As above.
  }
}

function draftsIn(kept: KeptTexts): Drafts {
  const nameOf = (conversationId: string | null) => `draft:${conversationId ?? "new"}`;
  return {
    read: (conversationId) => kept.read(nameOf(conversationId)),
    write: (conversationId, text) => kept.write(nameOf(conversationId), text),
  };
}

/** What all pages of the shell in this browser keep together. */
function sharedTexts() {
  const written = new Map<string, string>();
  const listeners = new Set<(name: string | null) => void>();
  // The browser tells every page but the one that wrote.
  window.addEventListener("storage", ({ key }) => {
    if (key === null) written.clear();
    else written.delete(key);
    for (const listener of listeners) listener(key);
  });
  const onElsewhere = (listener: (name: string | null) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return { ...storedTexts(() => window.localStorage, written), onElsewhere };
}

/** Storage may be forbidden or full; then a text lives as long as the page, in `written`. */
function storedTexts(storage: () => Storage, written = new Map<string, string>()): KeptTexts {
  return {
    read: (name) => {
      try {
        return written.get(name) ?? storage().getItem(name) ?? "";
      } catch {
        return written.get(name) ?? "";
      }
    },
    write: (name, text) => {
      written.set(name, text);
      try {
        if (text === "") storage().removeItem(name);
        else storage().setItem(name, text);
      } catch {
        // Kept above.
      }
    },
  };
}
