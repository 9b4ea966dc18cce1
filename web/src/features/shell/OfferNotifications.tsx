import { useState } from "react";
import { t } from "../../language/t.ts";
import { Button } from "../../ui/Button.tsx";
import type { Notifier } from "./notifier.ts";
import styles from "./OfferNotifications.module.css";

/**
 * With the first question that waits, and never before: whether the person wants to be told while they do something else. It
 * stands beside the question, whose own place holds nothing that could be taken for an answer.
 */
export function OfferNotifications({ notifier }: { readonly notifier: Notifier }) {
  const [asked, setAsked] = useState(false);
  if (asked || !notifier.isUndecided()) return null;
  const answer = (work: () => void) => {
    work();
    setAsked(true);
  };
  return (
    <p className={styles.offer}>
      <span>{t`Be told of questions while you look at something else?`}</span>
      <Button size="small" variant="quiet" onClick={() => answer(() => void notifier.allow())}>
        {t`Tell me`}
      </Button>
      <Button size="small" variant="quiet" onClick={() => answer(notifier.decline)}>
        {t`No`}
      </Button>
    </p>
  );
}
