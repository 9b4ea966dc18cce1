import { Link, useParams } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { callSentence } from "../../../ui/call-sentence.ts";
import { classes } from "../../../ui/classes.ts";
import { RuleSentence } from "../../../ui/RuleSentence.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { useIsOperator } from "../session.tsx";
import styles from "./ApprovalReview.module.css";
import { Approvers } from "./Approvers.tsx";
import { ArgumentPages } from "./ArgumentPages.tsx";
import { CopiedTextView } from "./CopiedText.tsx";
import { Decision } from "./Decision.tsx";
import { needsPasskey, STATUS_LABELS, STATUS_TONES } from "./labels.ts";
import { Origin } from "./Origin.tsx";
import { PlanReview } from "./PlanReview.tsx";
import { PreviewView } from "./PreviewView.tsx";
import { openParts } from "./plan.ts";
import { useApprovals, useQuestion } from "./queries.ts";
import { SignedStatement } from "./SignedStatement.tsx";
import { useInspection } from "./use-inspection.ts";
import { useReading } from "./use-reading.ts";

/** One approval, in the order in which a person can judge it: the call, its arguments, its effects, why they are asked; then the decision. */
export function ApprovalReview() {
  const { id = "" } = useParams<{ readonly id: string }>();
  // Keyed, so that no state of one approval is left over on the page of another.
  return <Review key={id} id={id} />;
}

function Review({ id }: { readonly id: string }) {
  const question = useQuestion(id);
  const approvals = useApprovals().data;
  if (question.data !== undefined) {
    const { approval } = question.data;
    const open = approval.status === "pending" ? openParts(approval, approvals ?? []) : [];
    return open.length > 1 ? <PlanReview open={open} /> : <Question question={question.data} />;
  }
  if (question.isPending) return <Spinner label={t`Reading the approval`} />;
  return (
    <>
      <PageHeading>{t`This approval cannot be shown`}</PageHeading>
      <Banner tone="danger">
        <p>{explain(question.error)}</p>
        <p>
          <Link href={paths.approvals}>{t`Back to all approvals`}</Link>
        </p>
      </Banner>
    </>
  );
}

function Question({ question }: { readonly question: ApprovalQuestion }) {
  const { approval } = question;
  const inspection = useInspection(question);
  const reading = useReading(question);
  const { preview } = question;
  // Nobody has answered, so the page has not read it anew, and the call changes nothing any more.
  const isOver = approval.status === "expired" || approval.status === "cancelled";
  const operator = useIsOperator();
  return (
    <article className={styles.question}>
      <Link href={paths.approvals} className={styles.link}>
        {t`All approvals`}
      </Link>
      <Head question={question} />
      {question.copied !== undefined && <CopiedTextView copied={question.copied} />}

      {preview !== undefined && !isOver && (
        <section className={styles.part} aria-labelledby="preview">
          <h2 id="preview">{preview.change === "send" ? t`What it sends` : t`What it changes now`}</h2>
          <PreviewView preview={preview} />
        </section>
      )}

      <section className={styles.part} aria-labelledby="arguments">
        <h2 id="arguments">{rich`Exactly this call of ${<code>{approval.tool}</code>}`}</h2>
        {Object.keys(approval.arguments).length === 0 ? (
          <p className="note">{t`It takes no arguments.`}</p>
        ) : (
          <ArgumentPages reading={reading} />
        )}
      </section>

      <section className={styles.part} aria-labelledby="effects">
        <h2 id="effects">{t`What it affects`}</h2>
        {approval.effects.length === 0 ? (
          <p className="note">{t`The tool's author did not say. Judge by the call itself.`}</p>
        ) : (
          <ul className={styles.list}>
            {approval.effects.map((effect) => (
              <li key={effect}>
                <VisibleText text={callSentence(effect)} prose />
              </li>
            ))}
          </ul>
        )}
      </section>

      <section className={styles.part} aria-labelledby="because">
        <h2 id="because">{t`Why you are asked`}</h2>
        {approval.because.length === 0 ? (
          <p className="note">{t`No rule of the policy allows this without you.`}</p>
        ) : (
          <ul className={styles.list}>
            {approval.because.map((rule) => (
              <li key={rule.id}>
                <RuleSentence why={rule.why} /> <span className="note">{t`rule ${rule.id}`}</span>
              </li>
            ))}
          </ul>
        )}
        {operator && (
          <p className="note">
            <Link className={styles.link} href={paths.explainCall(approval.conversationId, approval.callId)}>
              {t`Explain it by the rules`}
            </Link>
          </p>
        )}
      </section>

      <Approvers question={question} className={styles.part} />
      <Decision question={question} inspection={inspection} unread={reading.unread} />
      <SignedStatement question={question} inspection={inspection} />
    </article>
  );
}

/** What it is, whose wish it was and what it takes, coloured by what is at stake. */
function Head({ question }: { readonly question: ApprovalQuestion }) {
  const { approval } = question;
  const pending = approval.status === "pending";
  const stakes = !pending ? undefined : needsPasskey(approval) ? styles.grave : styles.waits;
  return (
    <header className={classes(styles.head, stakes)}>
      <div className="row">
        <Tag tone={STATUS_TONES[approval.status]}>{STATUS_LABELS[approval.status]}</Tag>
        {pending && needsPasskey(approval) && <Tag tone="danger">{t`needs your passkey`}</Tag>}
      </div>
      <PageHeading>
        <VisibleText text={callSentence(approval.summary)} prose />
      </PageHeading>
      <Origin question={question} />
    </header>
  );
}
