import { Menu as Base } from "@base-ui/react/menu";
import type { ReactNode } from "react";
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

/** A button that opens a list of actions; arrows, Home, End, first letters and Escape work as everywhere. */
export function Menu({ trigger, label, items }: MenuProps) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger className={styles.trigger} aria-label={label}>
        {trigger}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={4} align="end">
          <Base.Popup className={styles.popup}>
            {items.map((item) => (
              <Base.Item
                key={item.label}
                className={item.danger === true ? styles.danger : styles.item}
                disabled={item.disabled === true}
                onClick={item.onSelect}
              >
                {item.label}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
