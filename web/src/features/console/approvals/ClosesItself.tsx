import { useEffect, useState } from "react";
import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import { useWaiting } from "./queries.ts";

/** Long enough to read what became of the answer, in milliseconds. */
const READING = 8_000;

const STAYING = ["pointerup", "pointercancel", "keydown"] as const;

/** After an answer: the window goes by itself, unless another question waits or somebody goes on working in it. */
export function ClosesItself() {
  const isNeeded = useWaiting().mine.length > 0;
  const [stays, setStays] = useState(false);
  const goes = !stays && !isNeeded;
  useEffect(() => {
    if (!goes) return;
    const timer = setTimeout(() => {
      window.close();
      // A browser may refuse: then the person closes it.
      setStays(true);
    }, READING);
    // What is pressed must not move before it is let go, or the click is lost: the words change once it is over.
    const hold = () => clearTimeout(timer);
    const stay = () => setTimeout(() => setStays(true));
    document.addEventListener("pointerdown", hold);
    for (const type of STAYING) document.addEventListener(type, stay);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("pointerdown", hold);
      for (const type of STAYING) document.removeEventListener(type, stay);
    };
  }, [goes]);
  if (isNeeded) return null;
  if (stays) return <p className="note">{t`You can close this window.`}</p>;
  return (
    <p className="row">
      <span className="note">{t`This window closes by itself.`}</span>
      <Button size="small" onClick={() => setStays(true)}>
        {t`Keep it open`}
      </Button>
      <Button size="small" variant="primary" onClick={() => window.close()}>
        {t`Close now`}
      </Button>
    </p>
  );
}
