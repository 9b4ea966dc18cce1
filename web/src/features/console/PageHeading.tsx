import { type ReactNode, useEffect, useRef } from "react";
import styles from "./PageHeading.module.css";

/**
 * A page's heading. It takes the focus when the page opens, so that a screen reader starts there, and no button can be
 * pressed by a key that was meant for the page before.
 */
export function PageHeading({ children, lead }: { readonly children: ReactNode; readonly lead?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <div className={styles.heading}>
      <h1 ref={heading} tabIndex={-1}>
        {children}
      </h1>
      {lead !== undefined && <p className={styles.lead}>{lead}</p>}
    </div>
  );
}
