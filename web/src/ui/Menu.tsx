import { type KeyboardEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { classes } from "./classes.ts";
import styles from "./Menu.module.css";

export interface MenuItem {
  readonly label: string;
  readonly onSelect: () => void;
  readonly danger?: boolean | undefined;
  readonly disabled?: boolean | undefined;
}

export interface MenuProps {
  /** What the button shows; `label` names it when that is only a sign. */
  readonly trigger: ReactNode;
  readonly label?: string | undefined;
  readonly items: readonly MenuItem[];
}

/** Space kept between trigger, popup and the window's edges, in pixels. */
const GAP = 4;

/**
 * A button that opens a list of actions; arrows, Home, End, first letters and Escape work as everywhere (ARIA Authoring
 * Practices, menu button). It stands in the page where its button does, so it needs no guards around the focus.
 */
export function Menu({ trigger, label, items }: MenuProps) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = (refocus: boolean) => {
    setOpen(false);
    if (refocus) button.current?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={styles.trigger}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {trigger}
      </button>
      {open && <Popup id={id} button={button.current} items={items} onClose={close} />}
    </>
  );
}

interface PopupProps {
  readonly id: string;
  readonly button: HTMLButtonElement | null;
  readonly items: readonly MenuItem[];
  readonly onClose: (refocus: boolean) => void;
}

function Popup({ id, button, items, onClose }: PopupProps) {
  const popup = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });

  useLayoutEffect(() => {
    if (popup.current === null || button === null) return;
    place(popup.current, button);
    popup.current.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  }, [button]);

  useEffect(() => {
    const leave = (event: Event) => {
      const inside =
        event.target instanceof Node && (popup.current?.contains(event.target) || button?.contains(event.target));
      if (!inside) close.current(false);
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("scroll", leave, true);
    window.addEventListener("resize", leave);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("scroll", leave, true);
      window.removeEventListener("resize", leave);
    };
  }, [button]);

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key === "Escape" || event.key === "Tab") {
      // Escape is for the menu alone, not for a dialog that it stands in.
      if (event.key === "Escape") event.preventDefault();
      event.stopPropagation();
      onClose(event.key === "Escape");
      return;
    }
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const next = all[nextIndex(event.key, all)];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };

  return (
    <div ref={popup} id={id} role="menu" tabIndex={-1} className={styles.popup} onKeyDown={onKeyDown}>
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          className={classes(styles.item, item.danger === true && styles.danger)}
          aria-disabled={item.disabled === true || undefined}
          onClick={() => {
            if (item.disabled === true) return;
            onClose(true);
            item.onSelect();
          }}
        >
          {item.label}
        </button>
      ))}
    </div>
  );
}

/** Which item a key leads to; -1 for none. */
function nextIndex(key: string, items: readonly HTMLElement[]): number {
  const here = items.indexOf(document.activeElement as HTMLElement);
  switch (key) {
    case "ArrowDown":
      return (here + 1) % items.length;
    case "ArrowUp":
      return (here - 1 + items.length) % items.length;
    case "Home":
      return 0;
    case "End":
      return items.length - 1;
    default: {
      if (key.length !== 1) return -1;
      const starts = (item: HTMLElement) => item.textContent?.toLowerCase().startsWith(key.toLowerCase());
      const later = items.findIndex((item, index) => index > here && starts(item));
      return later >= 0 ? later : items.findIndex(starts);
    }
  }
}

/** Below the button and flush with its end, or above it where there is no room; always inside the window. */
function place(popup: HTMLElement, button: HTMLElement): void {
  const anchor = button.getBoundingClientRect();
  const { width, height } = popup.getBoundingClientRect();
  const below = anchor.bottom + GAP;
  const top = below + height <= window.innerHeight ? below : anchor.top - GAP - height;
  const left = Math.min(anchor.right, window.innerWidth - GAP) - width;
  popup.style.top = `${Math.max(GAP, top)}px`;
  popup.style.left = `${Math.max(GAP, left)}px`;
}
