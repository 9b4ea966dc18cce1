import { lazy, Suspense } from "react";
import type { MenuProps } from "../../ui/Menu.tsx";
import styles from "./LazyMenu.module.css";

/** A menu brings a third of this app's script with it, and nobody opens one in the first second. */
const Menu = lazy(async () => ({ default: (await import("../../ui/Menu.tsx")).Menu }));

/** The kit's menu, fetched after the page stands. Until then its trigger holds the place. */
export function LazyMenu(props: MenuProps) {
  return (
    <Suspense fallback={<span className={styles.place}>{props.trigger}</span>}>
      <Menu {...props} />
    </Suspense>
  );
}
