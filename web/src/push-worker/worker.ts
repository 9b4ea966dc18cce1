/**
 * The service worker of the console, for push messages alone: it keeps nothing, and no request of a page goes through it. It is a
 * script by itself, since what is registered under one address cannot be in files that change their names.
 *
 * A message says where a question waits and which one, or that it is a test. The words on the screen are from here, never from a
 * message.
 */

interface Waiting {
  readonly host: string;
  readonly approval: string;
  readonly test: boolean;
}

interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface PushEvent extends ExtendableEvent {
  readonly data: { json(): unknown } | null;
}

interface NotificationEvent extends ExtendableEvent {
  readonly notification: Notification;
}

interface ChangeEvent extends ExtendableEvent {
  readonly oldSubscription?: PushSubscription | null;
}

interface WindowClient {
  readonly url: string;
  postMessage(message: string): void;
  focus(): Promise<unknown>;
}

interface WorkerScope {
  readonly location: URL;
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    matchAll(options: {
      readonly type: "window";
      readonly includeUncontrolled: true;
    }): Promise<readonly WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install", listener: () => void): void;
  addEventListener(type: "push", listener: (event: PushEvent) => void): void;
  addEventListener(type: "pushsubscriptionchange", listener: (event: ChangeEvent) => void): void;
  addEventListener(type: "notificationclick", listener: (event: NotificationEvent) => void): void;
}

(() => {
  const worker = globalThis as unknown as WorkerScope;

  /** The page registers the worker in its own language. */
  const german = worker.location.search === "?de";
  const title = german ? "Eine Frage wartet" : "A question waits";
  const testTitle = german
    ? "Testnachricht: Dieses Gerät erfährt von Fragen"
    : "Test message: this device is told of questions";

  /** What cannot be read is told as a question all the same, for a browser shows words of its own where a worker shows none. */
  function read(event: PushEvent): Waiting {
    try {
      const { host = "", approval = "", test } = (event.data?.json() ?? {}) as Partial<Waiting>;
      if (host === worker.location.host && test === true) return { host, approval: "", test };
      if (host === worker.location.host && /^[\w-]{1,64}$/.test(approval)) return { host, approval, test: false };
    } catch {
      // Then it leads to the list.
    }
    return { host: worker.location.host, approval: "", test: false };
  }

  async function openPage(approval: string): Promise<void> {
    const { href } = new URL(approval === "" ? "/approvals" : `/approvals/${approval}`, worker.location.origin);
    const windows = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
    const there = windows.find(({ url }) => url === href);
    await (there === undefined ? worker.clients.openWindow(href) : there.focus());
  }

  /**
   * The browser has ended the subscription. The worker has no session, and so tells the gateway nothing: a page that is open does,
   * or the next one that is opened.
   */
  async function subscribeAnew({ oldSubscription }: ChangeEvent): Promise<void> {
    const applicationServerKey = oldSubscription?.options.applicationServerKey;
    if (applicationServerKey) {
      const { pushManager } = worker.registration;
      await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey }).catch(() => undefined);
    }
    const windows = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
    for (const each of windows) each.postMessage("push-subscription:changed");
  }

  worker.addEventListener("install", () => void worker.skipWaiting());
  worker.addEventListener("push", (event) => {
    const { host, approval, test } = read(event);
    const shown = test ? testTitle : title;
    const tag = test ? "test" : approval || "approvals";
    event.waitUntil(worker.registration.showNotification(shown, { body: host, tag, data: approval }));
  });
  worker.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(subscribeAnew(event)));
  worker.addEventListener("notificationclick", (event) => {
    event.notification.close();
    event.waitUntil(openPage(String(event.notification.data)));
  });
})();
