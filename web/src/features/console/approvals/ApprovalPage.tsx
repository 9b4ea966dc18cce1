import { Link } from "wouter";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { JsonView } from "../../../ui/JsonView.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../faults.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { useQuestion } from "../queries.ts";
import { useTitle } from "../title.ts";
import styles from "./ApprovalPage.module.css";
import { Decision } from "./Decision.tsx";
import { Signed } from "./Signed.tsx";
import { useInspection } from "./use-inspection.ts";
import { STATUS_TONES, STATUS_WORDS } from "./words.ts";

/** One question, in the order in which a person can judge it: what, with what, touching what, why they are asked; then the answer. */
export function ApprovalPage({ id }: { readonly id: string }) {
  useTitle("Approval");
  const question = useQuestion(id);
  if (question.data !== undefined) return <Question question={question.data} />;
  if (question.isPending) return <Spinner label="Reading the approval" />;
  return (
    <>
      <PageHeading>This approval cannot be shown</PageHeading>
      <Banner tone="danger">
        <p>{explain(question.error)}</p>
        <p>
          <Link href={paths.approvals}>Back to all approvals</Link>
        </p>
      </Banner>
    </>
  );
}

function Question({ question }: { readonly question: ApprovalQuestion }) {
  const { approval } = question;
  const inspection = useInspection(question);
  const names = Object.keys(approval.arguments);
  return (
    <article className={styles.question}>
      <div className="row">
        <Link href={paths.approvals} className={styles.back}>
          All approvals
        </Link>
        <Tag tone={STATUS_TONES[approval.status]}>{STATUS_WORDS[approval.status]}</Tag>
      </div>
      <PageHeading>
        <VisibleText text={approval.summary} prose />
      </PageHeading>

      <section className={styles.part} aria-labelledby="arguments">
        <h2 id="arguments">
          Exactly this call of <code>{approval.tool}</code>
        </h2>
        {names.length === 0 ? (
          <p className="note">It takes no arguments.</p>
        ) : (
          <KeyValue
            rows={names.map((name) => ({
              name,
              term: <VisibleText text={name} />,
              value: <JsonView value={approval.arguments[name]} openTo={4} />,
            }))}
          />
        )}
      </section>

      <section className={styles.part} aria-labelledby="effects">
        <h2 id="effects">What it affects</h2>
        {approval.effects.length === 0 ? (
          <p className="note">The tool's author did not say. Judge by the call itself.</p>
        ) : (
          <ul className={styles.list}>
            {approval.effects.map((effect) => (
              <li key={effect}>
                <VisibleText text={effect} prose />
              </li>
            ))}
          </ul>
        )}
      </section>

      <section className={styles.part} aria-labelledby="because">
        <h2 id="because">Why you are asked</h2>
        {approval.because.length === 0 ? (
          <p className="note">No rule of the policy allows this without you.</p>
        ) : (
          <ul className={styles.list}>
            {approval.because.map((rule) => (
              <li key={rule.id}>
                <VisibleText text={rule.why} prose /> <span className="note">rule {rule.id}</span>
              </li>
            ))}
          </ul>
        )}
        <p className="note">
          Asked <ExactTime at={approval.requestedAt} />, in conversation <code>{approval.conversationId}</code>.
        </p>
      </section>

      <Decision question={question} inspection={inspection} />
      <Signed question={question} inspection={inspection} />
    </article>
  );
}
