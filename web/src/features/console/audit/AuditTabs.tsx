import { Link, useLocation } from "wouter";
import { classes } from "../../../ui/classes.ts";
import { paths } from "../paths.ts";
import styles from "./AuditTabs.module.css";

const TABS: readonly (readonly [string, string])[] = [
  [paths.audit, "Calls"],
  [paths.auditRecords, "Every record"],
  [paths.auditLoad, "Load on people"],
  [paths.auditModels, "Models"],
];

/** The pages about the audit log. Sign-ins, policies and all else that is no call are among every record. */
export function AuditTabs() {
  const [location] = useLocation();
  return (
    <nav className={styles.tabs} aria-label="Audit">
      {TABS.map(([path, words]) => (
        <Link
          key={path}
          href={path}
          className={classes(styles.tab, location === path && styles.current)}
          aria-current={location === path ? "page" : undefined}
        >
          {words}
        </Link>
      ))}
    </nav>
  );
}
