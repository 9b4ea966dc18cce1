import { useEffect, useRef } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { callSentence } from "../../../ui/call-sentence.ts";
import { RuleSentence } from "../../../ui/RuleSentence.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import styles from "./ApprovalReview.module.css";
import { Approvers } from "./Approvers.tsx";
import { ArgumentPages } from "./ArgumentPages.tsx";
import { CopiedTextView } from "./CopiedText.tsx";
import type { Inspection } from "./challenge.ts";
import { needsPasskey } from "./labels.ts";
import { PreviewView } from "./PreviewView.tsx";
import { planStepOf } from "./plan.ts";
import { SignedStatement } from "./SignedStatement.tsx";
import { useInspection } from "./use-inspection.ts";
import { useReading } from "./use-reading.ts";

/** The buttons that `d` goes to, one of each step. */
export const DENIES = "data-denies";

interface PlanStepProps {
  readonly question: ApprovalQuestion;
  /** Whether this person's yes to the plan is one to this step. */
  readonly covered: boolean;
  /** Told once all of the step was in sight, with what this browser computed about it. */
  readonly onSeen: (id: string, inspection: Inspection) => void;
  readonly onDeny: () => void;
  readonly denying: boolean;
  readonly disabled: boolean;
}

/** One call of a plan, whole: nothing of it is folded away but the bytes that are signed. */
export function PlanStep({ question, covered, onSeen, onDeny, denying, disabled }: PlanStepProps) {
  const { approval, preview } = question;
  const inspection = useInspection(question);
  const reading = useReading(question);
  const end = useRef<HTMLDivElement>(null);
  const ready = inspection !== undefined && reading.unread === 0;
  const { id } = approval;
  useEffect(() => {
    if (!ready || end.current === null) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) onSeen(id, inspection);
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [ready, inspection, id, onSeen]);
  const title = `step-${id}`;
  return (
    <li className={styles.step} aria-labelledby={title}>
      <div className="row">
        <Tag>{t`Step ${planStepOf(approval)}`}</Tag>
        {needsPasskey(approval) && <Tag tone="danger">{t`needs your passkey`}</Tag>}
        {!covered && <Tag tone="waiting">{t`waits for somebody else`}</Tag>}
      </div>
      <h2 id={title}>
        <VisibleText text={callSentence(approval.summary)} prose />
      </h2>
      {question.copied !== undefined && <CopiedTextView copied={question.copied} />}
      {preview !== undefined && <PreviewView preview={preview} />}
      <p className="note">{rich`Exactly this call of ${<code>{approval.tool}</code>}`}</p>
      {Object.keys(approval.arguments).length === 0 ? (
        <p className="note">{t`It takes no arguments.`}</p>
      ) : (
        <ArgumentPages reading={reading} />
      )}
      <ul className={styles.list}>
        {approval.effects.map((effect) => (
          <li key={effect}>
            <VisibleText text={callSentence(effect)} prose />
          </li>
        ))}
        {approval.because.map((rule) => (
          <li key={rule.id}>
            <RuleSentence why={rule.why} /> <span className="note">{t`rule ${rule.id}`}</span>
          </li>
        ))}
      </ul>
      <Approvers question={question} className={styles.part} />
      {inspection !== undefined && inspection.mismatches.length > 0 && (
        <Banner tone="danger" urgent title={t`This cannot be approved: what is shown is not what would be signed`}>
          <ul>
            {inspection.mismatches.map((mismatch) => (
              <li key={mismatch}>{mismatch}</li>
            ))}
          </ul>
        </Banner>
      )}
      <SignedStatement question={question} inspection={inspection} />
      <div>
        <Button
          {...{ [DENIES]: true }}
          variant="danger"
          size="small"
          busy={denying}
          aria-disabled={disabled && !denying}
          onClick={() => !disabled && onDeny()}
        >
          {t`Deny step ${planStepOf(approval)}`}
        </Button>
      </div>
      <div ref={end} aria-hidden />
    </li>
  );
}
