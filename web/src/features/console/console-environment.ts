import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/browser";
import { connectTo } from "../../protocol/browser.ts";
import type { ConsoleConnection, ConsoleMethods, ConsoleNotifications } from "../../protocol/contract.ts";
import type { Socket } from "../../protocol/rpc.ts";
import { saveFile } from "../../ui/save-file.ts";

/** The part of the connection that pages use. */
export type ConsoleClient = Pick<
  ConsoleConnection,
  "state" | "start" | "stop" | "retryNow" | "onState" | "on" | "call"
>;

export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;
export type RequestOptions = PublicKeyCredentialRequestOptionsJSON;
export type Registration = RegistrationResponseJSON;
export type Assertion = AuthenticationResponseJSON;

/** An answer to a request of the sign-in endpoints (docs/PROTOCOL.md section 1). `body` is the parsed JSON, if there was any. */
export interface HttpReply {
  readonly status: number;
  readonly body: unknown;
}

/** Everything that the console needs from the browser, so that a test can replace it. */
export interface ConsoleEnvironment {
  /** The console's own origin, and the RP ID of every passkey in it. */
  readonly origin: string;
  readonly host: string;
  /** A new connection to the gateway, not started. */
  createClient(): ConsoleClient;
  /** POST JSON to this origin. Rejects only when no answer came. */
  post(path: string, body: Readonly<Record<string, unknown>>): Promise<HttpReply>;
  createPasskey(options: CreationOptions): Promise<Registration>;
  askPasskey(options: RequestOptions): Promise<Assertion>;
  /** GET a file of this origin. Rejects when no answer came, and when it is stopped. */
  fetchFile(path: string, signal?: AbortSignal): Promise<Response>;
  /** Let the browser keep a file. */
  saveFile(name: string, content: Blob): void;
  /** What keeps the gateway from doing its work, in its own words; empty when nothing does. */
  readProblems(): Promise<readonly string[]>;
  /** Go to a page of another origin. */
  navigateTo(url: string): void;
  readonly shellWish: ShellWish;
}

/**
 * That the person has just asked for the shell on a page of this console, in this window. It carries one press over the way
 * through the agent's origin and back, so that nobody has to press twice. No other origin can write it.
 */
export interface ShellWish {
  note(): void;
  /** Whether there is one from the last minute. It counts once. */
  take(): boolean;
}

/** The browser itself. */
export function browserConsole(): ConsoleEnvironment {
  const { origin, hostname } = window.location;
  return {
    origin,
    host: hostname,
    createClient: () =>
      connectTo<ConsoleMethods, ConsoleNotifications>({
        origin,
        openSocket: (url, subprotocol) => new WebSocket(url, subprotocol) as Socket,
        fetch: (url) => fetch(url),
      }),
    post,
    createPasskey: async (optionsJSON) => (await loadCeremonies()).startRegistration({ optionsJSON }),
    askPasskey: async (optionsJSON) => (await loadCeremonies()).startAuthentication({ optionsJSON }),
    fetchFile: (path, signal) => fetch(path, { redirect: "error", ...(signal !== undefined && { signal }) }),
    saveFile,
    readProblems,
    navigateTo: (url) => window.location.assign(url),
    shellWish: wishIn(window.sessionStorage, Date.now),
  };
}

/** As long as the one-time code that comes after it (docs/PROTOCOL.md section 1). */
const WISH_MS = 60_000;

const WISH = "shell-wish";

/** The wish in the storage of one window. Where storage is forbidden the person is asked once more. */
export function wishIn(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">, now: () => number): ShellWish {
  return {
    note: () => {
      try {
        storage.setItem(WISH, String(now()));
      } catch {
        // Then the page asks.
      }
    },
    take: () => {
      try {
        const age = now() - Number(storage.getItem(WISH) ?? Number.NaN);
        storage.removeItem(WISH);
        return age >= 0 && age < WISH_MS;
      } catch {
        return false;
      }
    },
  };
}

/** What speaks with passkeys. A page that only shows something never needs it. */
export function loadCeremonies(): Promise<typeof import("@simplewebauthn/browser")> {
  return import("@simplewebauthn/browser");
}

async function post(path: string, body: Readonly<Record<string, unknown>>): Promise<HttpReply> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    redirect: "error",
  });
  return { status: response.status, body: await readJson(response) };
}

/** `/readyz`: 200, or 503 with what is missing. */
async function readProblems(): Promise<readonly string[]> {
  const response = await fetch("/readyz");
  const { reasons } = (await response.json()) as { readonly reasons: readonly { readonly message: string }[] };
  return reasons.map(({ message }) => message);
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}
