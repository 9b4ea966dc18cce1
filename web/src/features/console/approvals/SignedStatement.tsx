import { t } from "../../../language/t.ts";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { CopyButton } from "../../../ui/CopyButton.tsx";
import { Digest } from "../../../ui/Digest.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import type { Inspection } from "./challenge.ts";
import styles from "./SignedStatement.module.css";

interface SignedStatementProps {
  readonly question: ApprovalQuestion;
  readonly inspection: Inspection | undefined;
}

/** The whole statement, byte for byte as it is hashed, for whoever wants to look. */
export function SignedStatement({ question, inspection }: SignedStatementProps) {
  if (inspection === undefined) return null;
  const agrees = inspection.digest === question.approval.statementDigest;
  return (
    <details className={styles.signed}>
      <summary className={styles.summary}>{t`Everything that is signed`}</summary>
      <div className={styles.body}>
        <p className="note">
          {t`This is the statement in canonical JSON (RFC 8785). Its SHA-256 is what your answer is bound to, what runs and what the audit log keeps.`}
        </p>
        <div className={styles.bytes}>
          <VisibleText text={inspection.canonical} fold={false} />
        </div>
        <CopyButton text={inspection.canonical} what={t`statement`} />
        <p>{agrees ? t`Computed in this browser, the same as the gateway's:` : t`Computed in this browser:`}</p>
        <Digest value={inspection.digest} />
        {!agrees && (
          <>
            <p>{t`Announced by the gateway:`}</p>
            <Digest value={question.approval.statementDigest} what={t`other digest`} />
          </>
        )}
      </div>
    </details>
  );
}
