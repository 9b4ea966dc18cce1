import type { ReactNode } from "react";
import { Link } from "wouter";
import { language } from "../../../language/language.ts";
import { t } from "../../../language/t.ts";
import { Card } from "../../../ui/Card.tsx";
import { callSentence } from "../../../ui/call-sentence.ts";
import { Tag } from "../../../ui/Tag.tsx";
import { TimeAgo } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { STATUS_LABELS, STATUS_TONES } from "../approvals/labels.ts";
import { useApprovals } from "../approvals/queries.ts";
import { type Ending, endingOf } from "../audit/outcome-words.ts";
import { paths } from "../paths.ts";
import { useAliveSessions } from "../people/queries.ts";
import { useIsOperator } from "../session.tsx";
import { useCallsToday } from "./queries.ts";
import styles from "./Today.module.css";

const RECENT = 5;

/** What was done since midnight, who is at work, and what was decided last. */
export function Today() {
  const operator = useIsOperator();
  const counted = useCallsToday().data;
  const decided = (useApprovals().data ?? []).filter(({ status }) => status !== "pending").slice(0, RECENT);
  const ended = (wanted: Ending) =>
    counted?.outcomes.reduce((sum, { outcome, calls }) => sum + (endingOf(outcome) === wanted ? calls : 0), 0);
  return (
    <Card as="section" label={t`Today`}>
      <h2>{t`Today`}</h2>
      <dl className={styles.figures}>
        <Figure name={operator ? t`calls` : t`calls of yours`}>
          <Link href={paths.audit}>{counted?.total.toLocaleString(language) ?? "…"}</Link>
        </Figure>
        <Figure name={t`of them did not run`}>{ended("stopped")?.toLocaleString(language) ?? "…"}</Figure>
        <Figure name={t`of them failed`}>{ended("failed")?.toLocaleString(language) ?? "…"}</Figure>
        {operator && <LiveSessions />}
      </dl>
      {operator && (
        <p className={styles.action}>
          <Link href={paths.backup}>{t`Back up the record`}</Link>
        </p>
      )}
      {decided.length > 0 && (
        <>
          <h3>{t`Decided last`}</h3>
          <ul className={styles.decisions}>
            {decided.map((approval) => (
              <li key={approval.id}>
                <Link href={paths.approval(approval.id)}>
                  <VisibleText text={callSentence(approval.summary)} prose />
                </Link>
                <span className="row">
                  <Tag tone={STATUS_TONES[approval.status]}>{STATUS_LABELS[approval.status]}</Tag>
                  <span className="note">
                    <TimeAgo at={approval.requestedAt} />
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

/** How many sessions agents work in now; the page behind it ends them. */
function LiveSessions() {
  const sessions = useAliveSessions().data;
  return (
    <Figure name={sessions?.length === 1 ? t`session of an agent is open` : t`sessions of agents are open`}>
      <Link href={paths.people}>{sessions?.length.toLocaleString(language) ?? "…"}</Link>
    </Figure>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
