import { useEffect } from "react";
import { Link } from "wouter";
import { t } from "../../../language/t.ts";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { KeyValue, type Row } from "../../../ui/KeyValue.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { ENDING_TONES, endingOf, wordOf } from "../audit/outcome-words.ts";
import { paths } from "../paths.ts";
import { useRefetchQuestion } from "./queries.ts";

/** Who decided, when, with which passkey, and what came of the call. Nothing for people who are not told of it. */
export function DecisionRecord({ question }: { readonly question: ApprovalQuestion }) {
  const { approval, background } = question;
  const refetch = useRefetchQuestion(approval.id);
  const call = background?.call;
  // What is shown was read while the question waited.
  const isOld = background !== undefined && call?.decidedAt === undefined && DECIDED.has(approval.status);
  useEffect(() => {
    if (isOld) refetch();
  }, [isOld, refetch]);
  if (call === undefined) return null;
  const rows: readonly (Row | false)[] = [
    call.approverName !== undefined && { name: t`Decided by`, value: <VisibleText text={call.approverName} prose /> },
    call.decidedAt !== undefined && { name: t`At`, value: <ExactTime at={call.decidedAt} /> },
    call.passkeyName !== undefined && { name: t`Passkey`, value: <VisibleText text={call.passkeyName} prose /> },
    {
      name: t`Result`,
      value: (
        <span className="row">
          <Tag tone={ENDING_TONES[endingOf(call.outcome)]}>{wordOf(call.outcome)}</Tag>
          {approval.status === "approved" && call.durationMs !== undefined && (
            <span className="note">{t`${call.durationMs} ms`}</span>
          )}
          <Link href={paths.auditCall(call.position)}>{t`Its record`}</Link>
        </span>
      ),
    },
  ];
  return <KeyValue rows={rows.filter((row) => row !== false)} />;
}

const DECIDED: ReadonlySet<string> = new Set(["approved", "denied"]);
