import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { BackupMade } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Digest } from "../../../ui/Digest.tsx";
import { byteCount } from "../../../ui/durations.ts";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VerificationNeeded } from "../account/VerificationNeeded.tsx";
import { useVerifiedAction } from "../account/verified-action.ts";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { useAsk } from "../session.tsx";
import styles from "./Backup.module.css";
import { shellWord } from "./shell-word.ts";

const backups = ["backups"] as const;

/** Has a backup made on the gateway's machine. None is fetched through a browser: it holds the key that signs the log. */
export function BackupPage() {
  const ask = useAsk();
  const cache = useQueryClient();
  const kept = useQuery({ queryKey: backups, queryFn: () => ask("backups/list", {}) });
  const [made, setMade] = useState<BackupMade | null>(null);
  const { attempt, verificationNeeded, failure } = useVerifiedAction(
    async () => setMade(await ask("backups/make", {})),
    () => void cache.invalidateQueries({ queryKey: backups }),
  );
  const newest = kept.data?.backups[0];
  const restored = newest === undefined ? "FILE" : shellWord(`${kept.data?.folder}/${newest.file}`);
  return (
    <>
      <PageHeading
        lead={t`One file with the whole record and the key that signs its log, kept on the gateway's machine. It does not hold the files of the policy and of the settings, the workspace or the models.`}
      >
        {t`Backup`}
      </PageHeading>
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
      {verificationNeeded && (
        <VerificationNeeded>
          {t`Whoever has a backup can read every call, so confirm that it is you. The browser asks for one of your passkeys.`}
        </VerificationNeeded>
      )}
      {made !== null && (
        <Banner tone="ok" title={t`${made.records} records are backed up, and the copy was checked`}>
          <Digest value={made.root} what={t`root`} />
        </Banner>
      )}
      <div className="row">
        <Button variant="primary" busy={attempt.isPending} onClick={() => attempt.mutate()}>
          {verificationNeeded ? t`Confirm with your passkey` : t`Make a backup`}
        </Button>
        <span className="note">{t`The gateway goes on working meanwhile.`}</span>
      </div>
      {kept.isError && <Banner tone="danger" urgent title={explain(kept.error)} />}
      {kept.isPending && <Spinner label={t`Looking for backups`} />}
      {kept.data !== undefined && (
        <section className="stack" aria-labelledby="kept">
          <h2 id="kept">{t`Backups that are there`}</h2>
          <p>
            {rich`In ${<code>{kept.data.folder}</code>}. Keep a copy on another machine: what lies on the disk of the record is lost with it.`}
          </p>
          {kept.data.backups.length === 0 ? (
            <EmptyState title={t`The console has made none yet`}>
              <p>{t`Those that the command line made elsewhere are not listed.`}</p>
            </EmptyState>
          ) : (
            <KeyValue
              rows={kept.data.backups.map(({ file, size, madeAt }) => ({
                name: file,
                term: <ExactTime at={madeAt} />,
                value: (
                  <>
                    <code>{file}</code>, {byteCount(size)}
                  </>
                ),
              }))}
            />
          )}
        </section>
      )}
      <section className="stack" aria-labelledby="restoring">
        <h2 id="restoring">{t`Putting one back`}</h2>
        <p>{t`No page does this: the record must not be replaced under a gateway that writes it. On its machine:`}</p>
        <ol className={styles.steps}>
          <li>{t`Stop the gateway.`}</li>
          <li>
            {rich`Run ${<code>countersign restore {restored}</code>}. It checks the file before it touches anything, keeps what was there in a folder beside it, and says how many records later than the backup are lost.`}
          </li>
          <li>{t`Start it again. Everybody signs in anew.`}</li>
        </ol>
      </section>
    </>
  );
}
