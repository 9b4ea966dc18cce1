import { Link } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { Approval, ApprovalQuestion, Grant } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { spokenDuration } from "../../../ui/durations.ts";
import { paths } from "../paths.ts";
import { DecisionRecord } from "./DecisionRecord.tsx";
import { isShared } from "./labels.ts";
import { useWaiting } from "./queries.ts";
import { StoppedQuestions } from "./StoppedQuestions.tsx";

interface ApprovalResultProps {
  readonly question: ApprovalQuestion;
  /** The grant that came of it, if it was given on this page. */
  readonly grant: Grant | undefined;
  /** Whether it was decided on this page. */
  readonly here: boolean;
}

/** The result, in the place where the buttons were. */
export function ApprovalResult({ question, grant, here }: ApprovalResultProps) {
  const { approval, background } = question;
  switch (approval.status) {
    case "pending":
      return null;
    case "approved":
      return (
        <Banner tone="ok" title={t`Approved`}>
          {background?.call === undefined ? (
            <p>
              {rich`The call was allowed to run. How it ended is in the ${(inner) => <Link href={paths.auditOf(approval.conversationId)}>{inner}</Link>}<audit log>.`}
            </p>
          ) : (
            <DecisionRecord question={question} />
          )}
          {grant !== undefined && <GrantNote grant={grant} />}
        </Banner>
      );
    case "denied":
      return (
        <>
          <Banner tone="info" title={t`Denied, not run`}>
            <p>{here || background !== undefined ? t`The agent is told that it was denied.` : deniedBy(approval)}</p>
            <DecisionRecord question={question} />
          </Banner>
          <StoppedQuestions />
        </>
      );
    case "expired":
      return (
        <Banner tone="info" title={t`Expired, not run`}>
          <p>{t`Nobody decided in time. The agent is told so and may ask again.`}</p>
        </Banner>
      );
    case "cancelled":
      return (
        <Banner tone="info" title={t`Cancelled, not run`}>
          <p>
            {approval.withdrawn === undefined
              ? t`The turn was stopped or its session ended, so there is nothing left to decide.`
              : t`There is nothing left to decide: ${approval.withdrawn}.`}
          </p>
        </Banner>
      );
  }
}

function deniedBy(approval: Approval): string {
  return isShared(approval)
    ? t`It was denied by somebody else, or in another window of yours, or a passkey answer did not verify.`
    : t`It was denied in another window, or a passkey answer did not verify.`;
}

function GrantNote({ grant }: { readonly grant: Grant }) {
  const lasts = spokenDuration(Date.parse(grant.expiresAt) - Date.parse(grant.issuedAt));
  return (
    <p>
      {rich`Calls that it covers do not ask again for ${lasts} at most, and at most ${grant.maxUses} times. Revoke it under ${(inner) => <Link href={paths.grants}>{inner}</Link>}<Grants>.`}
    </p>
  );
}

/** The link from a decided approval to the next one that waits, or to all. */
export function NextLink() {
  const [next] = useWaiting().mine;
  return next === undefined ? (
    <p>
      <Link href={paths.approvals}>{t`Back to all approvals`}</Link>
    </p>
  ) : (
    <p>
      <Link href={paths.approval(next.id)}>{t`Go to the next one that waits`}</Link>
    </p>
  );
}
