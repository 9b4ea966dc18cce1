import { useEffect, useState } from "react";
import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import { useWaiting } from "./queries.ts";

/** Long enough to read what became of the answer, in milliseconds. */
const READING = 8_000;

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
    const stay = () => setStays(true);
    document.addEventListener("pointerdown", stay);
    document.addEventListener("keydown", stay);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("pointerdown", stay);
      document.removeEventListener("keydown", stay);
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
