import { Link, useLocation, useSearch } from "wouter";
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

/** What goes back over a length of time, which one of them hands on to the next. */
const OVER_TIME: readonly string[] = [paths.audit, paths.auditLoad, paths.auditModels];

/** The pages about the audit log. Sign-ins, policies and all else that is no call are among every record. */
export function AuditTabs() {
  const [location] = useLocation();
  const range = new URLSearchParams(useSearch()).get("range");
  const handedOn = range === null || !OVER_TIME.includes(location) ? "" : `?${new URLSearchParams({ range })}`;
  return (
    <nav className={styles.tabs} aria-label={t`Audit`}>
      {TABS.map(([path, words]) => (
        <Link
          key={path}
          href={OVER_TIME.includes(path) ? `${path}${handedOn}` : path}
          className={classes(styles.tab, location === path && styles.current)}
          aria-current={location === path ? "page" : undefined}
        >
          {words}
        </Link>
      ))}
    </nav>
  );
}
