import { Link, useLocation } from "wouter";
import { t } from "../../../language/t.ts";
import { classes } from "../../../ui/classes.ts";
import { paths } from "../paths.ts";
import styles from "./AuditTabs.module.css";

const TABS: readonly (readonly [string, string])[] = [
  [paths.audit, t`Calls`],
  [paths.auditRecords, t`Every record`],
  [paths.auditCompare, t`Compare`],
  [paths.auditLoad, t`Load on people`],
  [paths.auditModels, t`Models`],
];

/** The pages about the audit log. Sign-ins, policies and all else that is no call are among every record. */
export function AuditTabs() {
  const [location] = useLocation();
  return (
    <nav className={styles.tabs} aria-label={t`Audit`}>
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
