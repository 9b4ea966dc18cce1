import { t } from "../../language/t.ts";
import type { Approval } from "../../protocol/generated.ts";
import type { KeptTexts } from "./shell-environment.ts";

/** Tells a person outside of the page that a question waits for them, if they want that. */
export interface Notifier {
  /** Whether the person has not said yet if they want it. Nobody is asked before there is something to tell. */
  isUndecided(): boolean;
  /** Ask the browser, which asks the person. */
  allow(): Promise<void>;
  /** Do not ask again. */
  decline(): void;
  /** A question waits. Somebody who looks at the page sees it there. */
  tell(approval: Approval, onOpen: () => void): void;
}

const DECLINED = "notifications-declined";

/** The notifications of the browser, without sound. */
export function browserNotifier(kept: KeptTexts): Notifier {
  const isThere = "Notification" in window;
  return {
    isUndecided: () => isThere && Notification.permission === "default" && kept.read(DECLINED) === "",
    allow: async () => {
      await Notification.requestPermission();
    },
    decline: () => kept.write(DECLINED, "yes"),
    tell: ({ id, tool, kind }, onOpen) => {
      if (!isThere || Notification.permission !== "granted" || (!document.hidden && document.hasFocus())) return;
      // Nothing that a model has written: it would stand outside of every page that marks it as such.
      const notification = new Notification(t`Your approval is needed`, {
        body: kind === "stepUp" ? t`A call of ${tool} needs your passkey.` : t`A call of ${tool} needs your consent.`,
        tag: id,
        silent: true,
      });
      notification.onclick = () => {
        window.focus();
        onOpen();
        notification.close();
      };
    },
  };
}
