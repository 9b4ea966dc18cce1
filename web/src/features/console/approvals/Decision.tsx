import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { Approval, ApprovalDecided, ApprovalQuestion, GrantScope, Pattern } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Countdown, SHORT } from "../../../ui/Countdown.tsx";
import { classes } from "../../../ui/classes.ts";
import { useSecond } from "../../../ui/clock.ts";
import { spokenDuration } from "../../../ui/durations.ts";
import { useAnnounce } from "../../../ui/LiveRegion.tsx";
import { explain } from "../errors.ts";
import { refetchGrants } from "../grants/queries.ts";
import { paths } from "../paths.ts";
import { useSession } from "../session.tsx";
import { useShortcuts } from "../shortcuts.ts";
import { ActAlone } from "./ActAlone.tsx";
import { ApprovalResult, NextLink } from "./ApprovalResult.tsx";
import { usePart } from "./Approvers.tsx";
import { useActivated } from "./activation-delay.ts";
import { ClosesItself } from "./ClosesItself.tsx";
import type { Inspection } from "./challenge.ts";
import type { Coverage } from "./coverage.ts";
import styles from "./Decision.module.css";
import { approve, approveAlone, ChangedMeanwhile, deny } from "./decide.ts";
import { describeGiven, needsPasskey } from "./labels.ts";
import { isOwnWindow } from "./own-window.ts";
import { answerTo, storeApproval, useRefetchQuestion, useWaiting } from "./queries.ts";
import { CoverageText, ScopeChoice } from "./ScopeChoice.tsx";

interface DecisionProps {
  readonly question: ApprovalQuestion;
  /** What this browser computed about the question; undefined until it has. */
  readonly inspection: Inspection | undefined;
  /** Pages of the arguments that have not been in sight: nothing can be approved before the last of them was. */
  readonly unread: number;
}

/** The decision: buttons while the approval is pending, in their place the result once somebody has decided. */
export function Decision({ question, inspection, unread }: DecisionProps) {
  const { approval } = question;
  const [answer, setAnswer] = useState<ApprovalDecided | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const handlers = { onAnswer: setAnswer, onFailure: setFailure };
  const section = useRef<HTMLElement>(null);
  const open = approval.status === "pending" && approval.answered !== true;
  const wasOpen = useRef(open);
  useEffect(() => {
    // The pressed button is gone and its focus with it; whoever works by keyboard goes on from where it was.
    if (wasOpen.current && !open && document.activeElement === document.body) section.current?.focus();
    wasOpen.current = open;
  }, [open]);
  useEffect(() => (open ? undefined : keepInSight(section.current)), [open]);
  return (
    <section
      ref={section}
      className={classes(styles.decision, open && styles.docked)}
      aria-label={t`Your decision`}
      tabIndex={-1}
    >
      {failure !== null && (
        <Banner tone="danger" urgent title={t`Your answer did not count`}>
          <p>{explain(failure)}</p>
        </Banner>
      )}
      <DecisionOrResult
        question={question}
        inspection={inspection}
        unread={unread}
        answer={answer}
        handlers={handlers}
      />
      {!open && <NextLink />}
      {!open && answer !== null && isOwnWindow() && <ClosesItself />}
    </section>
  );
}

/** What became of the call comes in after the answer, and makes the result longer: who was led to it still sees it whole. */
function keepInSight(result: HTMLElement | null): (() => void) | undefined {
  if (result === null || typeof ResizeObserver === "undefined") return undefined;
  const observer = new ResizeObserver(() => {
    if (result.contains(document.activeElement)) result.scrollIntoView({ block: "nearest" });
  });
  observer.observe(result);
  return () => observer.disconnect();
}

interface DecisionOrResultProps extends DecisionProps {
  readonly answer: ApprovalDecided | null;
  readonly handlers: AnswerHandlers;
}

/** Where an answer or its failure is kept: longer than the buttons that gave it are shown. */
interface AnswerHandlers {
  readonly onAnswer: (answer: ApprovalDecided) => void;
  readonly onFailure: (failure: Error | null) => void;
}

function DecisionOrResult({ question, inspection, unread, answer, handlers }: DecisionOrResultProps) {
  if (question.approval.answered && question.approval.status === "pending")
    return <p>{t`Approved. It runs when the call before it has gone well.`}</p>;
  if (question.approval.status === "pending")
    return <PendingDecision question={question} inspection={inspection} unread={unread} handlers={handlers} />;
  // Of several approvals, one that was given here need not be what decided.
  const here = answer?.approval.status === question.approval.status;
  return <ApprovalResult question={question} grant={answer?.grant} here={here} />;
}

interface PendingDecisionProps extends DecisionProps {
  readonly handlers: AnswerHandlers;
}

/** The argument that a lasting approval leaves open, if any. */
interface Open {
  readonly freed: string | null;
  readonly within: Pattern | null;
}

const CLOSED: Open = { freed: null, within: null };

function PendingDecision({ question, inspection, unread, handlers }: PendingDecisionProps) {
  const { approval, preview } = question;
  const { client, environment } = useSession();
  const [scope, setScope] = useState<GrantScope>("once");
  const [{ freed, within }, setOpen] = useState<Open>(CLOSED);
  const late = useIsLate(question);
  // Another comparison is another thing to look at, and the wait begins again.
  const activated = useActivated(`${approval.id} ${preview?.change} ${preview?.digest}`) && !late;
  const coverage: Coverage = { tool: approval.tool, arguments: approval.arguments, scope, freed, within };
  const approving = useAnswer(approval.id, handlers, (inspected: Inspection) =>
    approve(client, environment, { question, inspected }, coverage),
  );
  const denying = useAnswer(approval.id, handlers, () => deny(client, approval.id));
  const part = usePart(question);
  useLastCall(approval);
  const principal = part.actsAloneAs;
  const actingAlone = useAnswer(
    approval.id,
    handlers,
    ({
      inspected,
      ...alone
    }: {
      readonly inspected: Inspection;
      readonly principal: string;
      readonly reason: string;
    }) => approveAlone(client, environment, { question, inspected }, alone),
  );
  const busy = approving.isPending || denying.isPending || actingAlone.isPending;
  const trusted = inspection !== undefined && inspection.mismatches.length === 0;
  const possible = trusted && unread === 0 && preview?.change !== "impossible";
  // How long it may last is a question for whoever has read what it is.
  const choice = possible && part.mayApprove && approval.kind === "consent" && approval.offers.length > 1;
  const [armed, setArmed] = useState(false);
  const yes = useRef<HTMLButtonElement>(null);
  const no = useRef<HTMLButtonElement>(null);
  const arm = (button: HTMLButtonElement | null) => {
    button?.focus();
    setArmed(button !== null);
  };
  const [next, last] = useNeighbours(approval.id);
  const [, navigate] = useLocation();
  const open = (id: string | undefined) => id !== undefined && navigate(paths.approval(id));
  useShortcuts({ a: () => arm(yes.current), d: () => arm(no.current), j: () => open(next), k: () => open(last) });
  const choose = (chosen: GrantScope) => {
    setScope(chosen);
    setOpen(CLOSED);
  };
  return (
    <>
      {inspection !== undefined && !trusted && <Mismatch inspection={inspection} />}
      {choice && (
        <ScopeChoice
          offers={approval.offers}
          patterns={approval.patterns ?? []}
          coverage={coverage}
          onScope={choose}
          onFree={(name, pattern) => setOpen({ freed: name, within: pattern })}
        />
      )}
      {principal !== undefined && (
        <ActAlone
          busy={actingAlone.isPending}
          disabled={!activated || !possible || (busy && !actingAlone.isPending)}
          onAct={(reason) => trusted && actingAlone.mutate({ inspected: inspection, principal, reason })}
        />
      )}
      <div className={styles.answer}>
        {choice && <CoverageText coverage={coverage} />}
        {part.why !== undefined && <p>{part.why}</p>}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: it only notices that the keyboard has left the buttons */}
        <div className={styles.buttons} onBlur={() => setArmed(false)}>
          {part.mayDeny && (
            <Button
              ref={no}
              variant="danger"
              wide
              busy={denying.isPending}
              aria-disabled={!activated || (busy && !denying.isPending)}
              onClick={() => denying.mutate()}
            >
              {t`Deny`}
            </Button>
          )}
          {part.mayApprove && (
            <Button
              ref={yes}
              variant="primary"
              wide
              busy={approving.isPending}
              aria-disabled={!activated || !possible || (busy && !approving.isPending)}
              onClick={() => trusted && approving.mutate(inspection)}
            >
              {approveLabel(needsPasskey(approval), approving.isPending, scope)}
            </Button>
          )}
        </div>
        <div className="row">
          {armed && <span className="note">{rich`${<kbd>{t`Enter`}</kbd>} presses the button that is marked.`}</span>}
          {late ? (
            <span className="note">{t`The time is up. Waiting for the gateway's result.`}</span>
          ) : (
            <Countdown until={approval.expiresAt} label={t`Expires in`} />
          )}
          {unread > 0 && (
            <span className="note">{t`${unread} {page|pages} of the arguments to read before you can approve.`}</span>
          )}
          {!activated && !late && (
            <span className="note">{t`The buttons work once this window has been in front for a moment.`}</span>
          )}
        </div>
      </div>
    </>
  );
}

/** The ids of the questions after and before one, of those that wait for this person. */
function useNeighbours(id: string): readonly [next: string | undefined, last: string | undefined] {
  const { mine } = useWaiting();
  const here = mine.findIndex((each) => each.id === id);
  return [mine[here + 1]?.id, here < 0 ? undefined : mine[here - 1]?.id];
}

/** The page and the statement do not match: the call can be denied, and cannot be approved. */
function Mismatch({ inspection }: { readonly inspection: Inspection }) {
  return (
    <Banner tone="danger" urgent title={t`This cannot be approved: what is shown is not what would be signed`}>
      <ul>
        {inspection.mismatches.map((mismatch) => (
          <li key={mismatch}>{mismatch}</li>
        ))}
      </ul>
      <p>{t`Deny it, and report it to the operator of this gateway.`}</p>
    </Banner>
  );
}

function useAnswer<Given = void>(
  approvalId: string,
  { onAnswer, onFailure }: AnswerHandlers,
  give: (given: Given) => Promise<ApprovalDecided>,
) {
  const cache = useQueryClient();
  const announce = useAnnounce();
  const refetchQuestion = useRefetchQuestion(approvalId);
  return useMutation({
    mutationKey: answerTo(approvalId),
    mutationFn: give,
    onMutate: () => onFailure(null),
    onError: (error) => {
      onFailure(error);
      if (error instanceof ChangedMeanwhile) refetchQuestion();
    },
    onSuccess: (answer) => {
      onAnswer(answer);
      storeApproval(cache, answer.approval);
      announce(describeAnswer(answer.approval));
      if (answer.grant !== undefined) void refetchGrants(cache);
    },
  });
}

/** Says once to people who do not see the clock that it is running out. */
function useLastCall({ expiresAt }: Approval): void {
  const announce = useAnnounce();
  const left = Date.parse(expiresAt) - useSecond();
  const isShort = left > 0 && left <= SHORT;
  useEffect(() => {
    if (isShort) announce(t`This expires in ${spokenDuration(SHORT)}.`);
  }, [isShort, announce]);
}

/** True when the approval has expired by this device's clock. The gateway decides; it is asked until it has said so. */
function useIsLate({ approval }: ApprovalQuestion): boolean {
  const refetchQuestion = useRefetchQuestion(approval.id);
  const second = useSecond();
  const late = second >= Date.parse(approval.expiresAt);
  useEffect(() => {
    if (late && second % 3_000 === 0) refetchQuestion();
  }, [late, second, refetchQuestion]);
  return late;
}

function describeAnswer(approval: Approval): string {
  switch (approval.status) {
    case "approved":
      return t`Approved.`;
    case "pending":
      return t`Your approval counts: ${describeGiven(approval)}.`;
    default:
      return t`Denied. The call does not run.`;
  }
}

function approveLabel(passkey: boolean, pending: boolean, scope: GrantScope): string {
  if (passkey) return pending ? t`Waiting for your passkey` : t`Approve with passkey`;
  switch (scope) {
    case "once":
      return t`Approve once`;
    case "turn":
      return t`Approve for this turn`;
    case "session":
      return t`Approve for this session`;
  }
}
