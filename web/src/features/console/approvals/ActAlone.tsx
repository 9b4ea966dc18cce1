import { useId, useState } from "react";
import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import { TextAreaField } from "../../../ui/Field.tsx";
import styles from "./ActAlone.module.css";

/** Characters of a reason: at least a few words, at most what a record holds of it. */
const REASON = { least: 10, most: 500 };

interface ActAloneProps {
  readonly busy: boolean;
  readonly disabled: boolean;
  readonly onAct: (reason: string) => void;
}

/** The way for an operator to run alone what takes several people: behind a line that is opened first, and never without a reason. */
export function ActAlone({ busy, disabled, onAct }: ActAloneProps) {
  const [reason, setReason] = useState("");
  const [tried, setTried] = useState(false);
  const note = useId();
  const told = reason.trim();
  const fault = findFault(told);
  return (
    <details className={styles.alone}>
      <summary>{t`Break the glass: run it on your passkey alone`}</summary>
      <div className={styles.body}>
        <p id={note}>
          {t`For when nobody else can be reached. Your reason is signed with the call and recorded, and every operator is told of it at once.`}
        </p>
        <TextAreaField
          label={t`Why can this not wait for somebody else?`}
          hint={t`${REASON.least} to ${REASON.most} characters. Everybody who reads the audit log reads it.`}
          error={tried ? fault : undefined}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
        <Button
          variant="danger"
          busy={busy}
          aria-disabled={disabled}
          aria-describedby={note}
          onClick={() => {
            setTried(true);
            if (fault === undefined) onAct(told);
          }}
        >
          {busy ? t`Waiting for your passkey` : t`Run it alone with passkey`}
        </Button>
      </div>
    </details>
  );
}

/** What the gateway would refuse as a reason: a signature over anything else than it records would end the call. */
function findFault(told: string): string | undefined {
  const length = [...told].length;
  if (length < REASON.least) return t`Say it in at least ${REASON.least} characters.`;
  if (length > REASON.most) return t`Say it in at most ${REASON.most} characters; these are ${length}.`;
  return /[\p{C}\p{Z}]/u.test(told.replace(/[ \n]/g, ""))
    ? t`Use only plain text: letters, digits, signs and blanks.`
    : undefined;
}
