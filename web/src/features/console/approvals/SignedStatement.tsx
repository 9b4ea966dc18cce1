import { t } from "../../../language/t.ts";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { CopyButton } from "../../../ui/CopyButton.tsx";
import { Digest } from "../../../ui/Digest.tsx";
import { JsonView } from "../../../ui/JsonView.tsx";
import { KeyValue, type Row } from "../../../ui/KeyValue.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import type { Inspection } from "./challenge.ts";
import styles from "./SignedStatement.module.css";

interface SignedStatementProps {
  readonly question: ApprovalQuestion;
  readonly inspection: Inspection | undefined;
}

/** What each member of the statement is, in the order in which a person asks for it. */
const TERMS: Readonly<Record<string, string>> = {
  tool: t`Tool`,
  arguments: t`Arguments`,
  kind: t`What your answer is`,
  issuedAt: t`Asked at`,
  expiresAt: t`Ends at`,
  approvers: t`Who has to approve`,
  plan: t`Place among the steps`,
  principal: t`Person`,
  sessionId: t`Session`,
  conversationId: t`Conversation`,
  turnId: t`Turn`,
  turnIndex: t`Turns before it`,
  callId: t`Call`,
  approvalId: t`Approval`,
  nonce: t`Number that is used once`,
  snapshotDigest: t`Digest of the tools on offer`,
  descriptorDigest: t`Digest of this tool's description`,
  policyVersion: t`Digest of the policy`,
  v: t`Version of this form`,
};
const NAMES = Object.keys(TERMS);
const TIMES: ReadonlySet<string> = new Set(["issuedAt", "expiresAt"]);

/** Every member of the statement, also one that this page has no word for. */
function membersOf(canonical: string): readonly Row[] {
  const statement = Object.entries(JSON.parse(canonical) as Readonly<Record<string, unknown>>);
  const place = (name: string) => (NAMES.includes(name) ? NAMES.indexOf(name) : NAMES.length);
  return statement
    .toSorted(([one], [other]) => place(one) - place(other))
    .map(([name, value]) => ({
      name,
      term: NAMES.includes(name) ? TERMS[name] : <VisibleText text={name} />,
      value:
        TIMES.has(name) && typeof value === "string" ? (
          <ExactTime at={value} />
        ) : (
          <JsonView value={value} openTo={8} fold={false} />
        ),
    }));
}

/** The whole statement, member by member, and behind that byte for byte as it is hashed. */
export function SignedStatement({ question, inspection }: SignedStatementProps) {
  if (inspection === undefined) return null;
  const agrees = inspection.digest === question.approval.statementDigest;
  return (
    <details className={styles.signed}>
      <summary className={styles.summary}>{t`Everything that is signed`}</summary>
      <div className={styles.body}>
        <p className="note">
          {t`Your answer holds for this and nothing else: it is what runs, and what the audit log keeps.`}
        </p>
        <div className={styles.members}>
          <KeyValue rows={membersOf(inspection.canonical)} />
        </div>
        <details className={styles.raw}>
          <summary>{t`The same, byte for byte`}</summary>
          <div className={styles.body}>
            <p className="note">{t`Canonical JSON (RFC 8785), whose SHA-256 stands below.`}</p>
            <div className={styles.bytes}>
              <VisibleText text={inspection.canonical} fold={false} />
            </div>
            <CopyButton text={inspection.canonical} what={t`statement`} />
          </div>
        </details>
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
