import { language } from "../../../language/language.ts";
import { t } from "../../../language/t.ts";
import { hashText, toHex } from "../../../ui/sha256.ts";
import { CheckFailed } from "../errors.ts";

/** What the gateway needs to send to this browser. */
export interface Subscribed {
  readonly endpoint: string;
  readonly publicKey: string;
  readonly auth: string;
}

interface TrustedScripts {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(url: string): string };
}

/** Whether this browser can be told anything while no page is open. */
export function canBeTold(): boolean {
  return "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
}

/** Whether the person has told the browser that this page shows no notifications. */
export function isBlocked(): boolean {
  return Notification.permission === "denied";
}

/** The digest by which the list has this browser, if its push service knows it; null without a subscription. */
export async function findDigest(): Promise<string | null> {
  const registration = await navigator.serviceWorker.getRegistration("/");
  const subscription = await registration?.pushManager.getSubscription();
  return subscription == null ? null : digestOfSubscription(read(subscription));
}

/** The digest by which the list has a subscription. */
export async function digestOfSubscription({ endpoint, publicKey, auth }: Subscribed): Promise<string> {
  return toHex(await hashText(`${endpoint}\n${publicKey}\n${auth}`));
}

/** Asks the person, then the browser's push service. `key` is the gateway's, in base64url. */
export async function subscribe(key: string): Promise<Subscribed> {
  if ((await Notification.requestPermission()) !== "granted") {
    throw new CheckFailed(
      t`The browser shows no notifications of this page. Allow them in its settings, then try again.`,
    );
  }
  const registration = await startWorker();
  const before = await registration.pushManager.getSubscription();
  if (before !== null) {
    if (isBoundTo(before, key)) return read(before);
    // It was made for another key, which the gateway has no more.
    await before.unsubscribe();
  }
  try {
    return read(
      await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: fromBase64url(key) }),
    );
  } catch {
    throw new CheckFailed(
      t`The browser's push service gave no address. Check that this device is online, then try again.`,
    );
  }
}

/** Has the push service forget this browser. */
export async function unsubscribe(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration("/");
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

async function startWorker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(scriptAddress(), { scope: "/", updateViaCache: "none" });
  return navigator.serviceWorker.ready;
}

let address: string | null = null;

/** Trusted Types take an address of a script from a policy alone (docs/SECURITY.md); ours gives this one, whatever it is asked. */
function scriptAddress(): string {
  if (address === null) {
    const plain = `/push-worker.js?${language}`;
    const { trustedTypes } = window as unknown as { readonly trustedTypes?: TrustedScripts };
    address = trustedTypes?.createPolicy("push-worker", { createScriptURL: () => plain }).createScriptURL("") ?? plain;
  }
  return address;
}

function read(subscription: PushSubscription): Subscribed {
  const { endpoint = "", keys = {} } = subscription.toJSON();
  return { endpoint, publicKey: keys.p256dh ?? "", auth: keys.auth ?? "" };
}

function isBoundTo(subscription: PushSubscription, key: string): boolean {
  const bound = subscription.options.applicationServerKey;
  return bound !== null && toHex(new Uint8Array(bound)) === toHex(fromBase64url(key));
}

function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
}
