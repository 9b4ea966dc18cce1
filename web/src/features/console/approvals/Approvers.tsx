import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { ApprovalQuestion, ApproverStanding } from "../../../protocol/generated.ts";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { useDescription } from "../session.tsx";
import { describeGiven, isShared } from "./labels.ts";

/** Whose call it is, how many people it takes and who of them has approved; nothing where the requester alone decides. */
export function Approvers({
  question,
  className,
}: {
  readonly question: ApprovalQuestion;
  readonly className?: string | undefined;
}) {
  const { approval } = question;
  if (!isShared(approval)) return null;
  const { given = [], needs, requester } = approval;
  return (
    <section className={className} aria-labelledby="approvers">
      <h2 id="approvers">{t`Who has to approve`}</h2>
      <p>
        {needs.approvers === 1
          ? t`One person with a passkey, other than who asked for it.`
          : t`${needs.approvers} different people, each with a passkey. It runs when the last of them has approved.`}
        {requester !== undefined && (
          <>
            {" "}
            {needs.requesterMayApprove
              ? rich`Asked for by ${<VisibleText text={requester} />}.`
              : rich`Asked for by ${<VisibleText text={requester} />}, whose own approval does not count.`}
          </>
        )}
      </p>
      <p role="status">{describeGiven(approval)}.</p>
      {given.length > 0 && (
        <ul>
          {given.map(({ at, name, principal }) => (
            <li key={principal ?? at}>
              {rich`${<VisibleText text={name ?? principal ?? t`Somebody`} />} approved ${<ExactTime at={at} />}`}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What this person may do about an approval. */
export interface Part {
  readonly mayApprove: boolean;
  readonly mayDeny: boolean;
  /** The id under which this person may act alone; undefined where they may not. */
  readonly actsAloneAs: string | undefined;
  /** Why this person's approval is not asked for; undefined where it is. */
  readonly why: string | undefined;
}

/** This person's part in a question. That they have approved is known from the question itself, however old the rest is. */
export function usePart({ approval, standing, mayBreakGlass }: ApprovalQuestion): Part {
  const person = useDescription().data?.session.principal;
  const given = approval.given?.some(({ principal }) => principal !== undefined && principal === person);
  const part = given ? "hasApproved" : (standing ?? "mayApprove");
  return {
    mayApprove: part === "mayApprove",
    mayDeny: part !== "notAnApprover" || approval.requesterId === person,
    actsAloneAs: mayBreakGlass ? person : undefined,
    why: part === "mayApprove" ? undefined : WHY_NOT[part],
  };
}

const WHY_NOT: Readonly<Record<Exclude<ApproverStanding, "mayApprove">, string>> = {
  hasApproved: t`You have approved it. It runs when somebody else has approved it too; until then you can still deny it.`,
  requesterExcluded: t`You asked for this call, so somebody else has to approve it. You can still deny it.`,
  notAnApprover: t`The policy names other people who may approve this.`,
};
