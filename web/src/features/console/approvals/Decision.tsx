import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { ApprovalDecided, ApprovalQuestion, GrantScope } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Countdown } from "../../../ui/Countdown.tsx";
import { classes } from "../../../ui/classes.ts";
import { useSecond } from "../../../ui/clock.ts";
import { useAnnounce } from "../../../ui/LiveRegion.tsx";
import { explain } from "../faults.ts";
import { forgetGrants, storeApproval, useAskAgain } from "../queries.ts";
import { useSession } from "../session.tsx";
import { useArmed } from "./arming.ts";
import type { Inspection } from "./challenge.ts";
import type { Coverage } from "./coverage.ts";
import styles from "./Decision.module.css";
import { approve, deny } from "./decide.ts";
import { Covered, ScopeChoice } from "./ScopeChoice.tsx";
import { Next, Settled } from "./Settled.tsx";
import { needsPasskey } from "./words.ts";

interface DecisionProps {
  readonly question: ApprovalQuestion;
  /** This browser's own look at the question; undefined while it is under way. */
  readonly inspection: Inspection | undefined;
}

/** The answer: open while the approval is pending, settled in place when it no longer is, whoever settled it. */
export function Decision({ question, inspection }: DecisionProps) {
  const { approval } = question;
  const [answer, setAnswer] = useState<ApprovalDecided | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const told = { onAnswer: setAnswer, onFailure: setFailure };
  const section = useRef<HTMLElement>(null);
  const open = approval.status === "pending";
  const wasOpen = useRef(open);
  useEffect(() => {
    // The pressed button is gone and its focus with it; whoever works by keyboard goes on from where it was.
    if (wasOpen.current && !open && document.activeElement === document.body) section.current?.focus();
    wasOpen.current = open;
  }, [open]);
  return (
    <section
      ref={section}
      className={classes(styles.decision, open && styles.docked)}
      aria-label="Your decision"
      tabIndex={-1}
    >
      {failure !== null && (
        <Banner tone="danger" urgent title="Your answer did not count">
          <p>{explain(failure)}</p>
        </Banner>
      )}
      <Answering question={question} inspection={inspection} answer={answer} told={told} />
      {!open && <Next />}
    </section>
  );
}

interface AnsweringProps extends DecisionProps {
  readonly answer: ApprovalDecided | null;
  readonly told: Told;
}

/** Where an answer, or what went wrong with it, is kept: longer than the buttons that gave it are there. */
interface Told {
  readonly onAnswer: (answer: ApprovalDecided) => void;
  readonly onFailure: (failure: Error | null) => void;
}

function Answering({ question, inspection, answer, told }: AnsweringProps) {
  if (question.approval.status === "pending") return <Open question={question} inspection={inspection} told={told} />;
  return <Settled approval={question.approval} grant={answer?.grant} here={answer !== null} />;
}

interface OpenProps extends DecisionProps {
  readonly told: Told;
}

function Open({ question, inspection, told }: OpenProps) {
  const { approval } = question;
  const { line, around } = useSession();
  const [scope, setScope] = useState<GrantScope>("once");
  const [freed, setFreed] = useState<string | null>(null);
  const late = useLateness(question);
  const armed = useArmed(approval.id) && !late;
  const coverage: Coverage = { tool: approval.tool, arguments: approval.arguments, scope, freed };
  const yes = useAnswer(told, (inspected: Inspection) => approve(line, around, inspected, coverage, approval.id));
  const no = useAnswer(told, () => deny(line, approval.id));
  const trusted = inspection !== undefined && inspection.mismatches.length === 0;
  const choice = trusted && approval.kind === "consent" && approval.offers.length > 1;
  const choose = (chosen: GrantScope) => {
    setScope(chosen);
    setFreed(null);
  };
  return (
    <>
      {inspection !== undefined && !trusted && <Mismatch inspection={inspection} />}
      {choice && <ScopeChoice offers={approval.offers} coverage={coverage} onScope={choose} onFree={setFreed} />}
      <div className={styles.answer}>
        {choice && <Covered coverage={coverage} />}
        <div className={styles.buttons}>
          <Button
            variant="danger"
            wide
            busy={no.isPending}
            aria-disabled={!armed || yes.isPending}
            onClick={() => no.mutate()}
          >
            Deny
          </Button>
          <Button
            variant="primary"
            wide
            busy={yes.isPending}
            aria-disabled={!armed || !trusted || no.isPending}
            onClick={() => trusted && yes.mutate(inspection)}
          >
            {yesLabel(needsPasskey(approval), yes.isPending, scope)}
          </Button>
        </div>
        <div className="row">
          {late ? (
            <span className="note">Time is up. Waiting for the gateway to say how it ended.</span>
          ) : (
            <Countdown until={approval.expiresAt} label="Expires in" />
          )}
          {!armed && !late && (
            <span className="note">The buttons work once this window has been in front for a moment.</span>
          )}
        </div>
      </div>
    </>
  );
}

/** Something between the page and the statement does not fit: a no is always safe, a yes is not on offer. */
function Mismatch({ inspection }: { readonly inspection: Inspection }) {
  return (
    <Banner tone="danger" urgent title="This cannot be approved: what is shown is not what would be signed">
      <ul>
        {inspection.mismatches.map((mismatch) => (
          <li key={mismatch}>{mismatch}</li>
        ))}
      </ul>
      <p>Deny it, and tell whoever runs this gateway.</p>
    </Banner>
  );
}

function useAnswer<Given = void>({ onAnswer, onFailure }: Told, give: (given: Given) => Promise<ApprovalDecided>) {
  const cache = useQueryClient();
  const announce = useAnnounce();
  return useMutation({
    mutationFn: give,
    onMutate: () => onFailure(null),
    onError: (error) => onFailure(error),
    onSuccess: (answer) => {
      onAnswer(answer);
      storeApproval(cache, answer.approval);
      announce(answer.approval.status === "approved" ? "Approved." : "Denied. The call does not run.");
      if (answer.grant !== undefined) void forgetGrants(cache);
    },
  });
}

/** True when this device's clock says that the time is up. The gateway decides; it is asked until it has said so. */
function useLateness({ approval }: ApprovalQuestion): boolean {
  const askAgain = useAskAgain(approval.id);
  const second = useSecond();
  const late = second >= Date.parse(approval.expiresAt);
  useEffect(() => {
    if (late && second % 3_000 === 0) askAgain();
  }, [late, second, askAgain]);
  return late;
}

function yesLabel(passkey: boolean, pending: boolean, scope: GrantScope): string {
  if (passkey) return pending ? "Waiting for your passkey" : "Approve with passkey";
  switch (scope) {
    case "once":
      return "Approve once";
    case "turn":
      return "Approve for this turn";
    case "session":
      return "Approve for this session";
  }
}
