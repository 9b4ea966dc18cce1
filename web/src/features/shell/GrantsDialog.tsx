import { useEffect } from "react";
import { rich } from "../../language/rich.ts";
import { t } from "../../language/t.ts";
import type { Grant } from "../../protocol/generated.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { describePattern } from "../../ui/patterns.ts";
import { Spinner } from "../../ui/Spinner.tsx";
import { TimeAgo } from "../../ui/TimeAgo.tsx";
import { Arguments } from "./Arguments.tsx";
import styles from "./GrantsDialog.module.css";
import type { Workspace } from "./workspace.ts";

interface GrantsProps {
  readonly workspace: Workspace;
  readonly grants: readonly Grant[] | null;
  readonly onClose: () => void;
}

/** The grants of this session that are in force. They can be revoked here, and not changed. */
export function GrantsDialog({ workspace, grants, onClose }: GrantsProps) {
  useEffect(() => {
    void workspace.grants.load();
  }, [workspace]);
  return (
    <Dialog open title={t`Grants`} cancelLabel={t`Close`} onClose={onClose}>
      {grants === null && <Spinner label={t`Loading`} />}
      {grants?.length === 0 && (
        <EmptyState title={t`No grant is in force`}>
          <p>{t`When you approve a call for a turn or for the session, it is listed here until it ends.`}</p>
        </EmptyState>
      )}
      <ul className={styles.grants}>
        {grants?.map((grant) => (
          <li key={grant.id} className={styles.grant}>
            <p>
              {grant.scope === "session"
                ? rich`${<code>{grant.tool}</code>}, for this session, ends ${<TimeAgo at={grant.expiresAt} />}, used ${grant.uses} of ${grant.maxUses} times`
                : rich`${<code>{grant.tool}</code>}, for its turn, ends ${<TimeAgo at={grant.expiresAt} />}, used ${grant.uses} of ${grant.maxUses} times`}
            </p>
            <Arguments given={grant.pins} />
            {grant.within !== undefined && (
              <p className={styles.note}>
                {grant.within.argument}: {describePattern(grant.within)}
              </p>
            )}
            {grant.within === undefined && grant.freed.length > 0 && (
              <p className={styles.note}>{t`Any value: ${grant.freed.join(", ")}`}</p>
            )}
            <div>
              <Button size="small" variant="danger" onClick={() => void workspace.grants.revoke(grant.id)}>
                {t`Revoke`}
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
