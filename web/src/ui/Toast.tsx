import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from "react";
import { t } from "../language/t.ts";
import { Button } from "./Button.tsx";
import { useAnnounce } from "./LiveRegion.tsx";
import styles from "./Toast.module.css";

type ShowToast = (message: string) => void;

interface Shown {
  readonly id: number;
  readonly message: string;
}

/** WCAG 2.2.1 asks for enough time to read; nothing that matters is said only here. */
const STAYS_MS = 8_000;

const Toasts = createContext<ShowToast>(() => {});

/** Shows a short sentence about something that was done, and announces it. Needs `LiveRegion` around it. */
export function useToast(): ShowToast {
  return useContext(Toasts);
}

export function ToastRegion({ children }: { readonly children: ReactNode }) {
  const announce = useAnnounce();
  const [shown, setShown] = useState<Shown | null>(null);
  const next = useRef(0);
  const show = useCallback<ShowToast>(
    (message) => {
      next.current += 1;
      setShown({ id: next.current, message });
      announce(message);
    },
    [announce],
  );
  useEffect(() => {
    if (shown === null) return;
    const timer = setTimeout(() => setShown(null), STAYS_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <Toasts value={show}>
      {children}
      {shown !== null && (
        <section className={styles.toast} key={shown.id} aria-label={t`Notice`}>
          <span>{shown.message}</span>
          <Button size="small" variant="quiet" onClick={() => setShown(null)}>
            {t`Dismiss`}
          </Button>
        </section>
      )}
    </Toasts>
  );
}
