import { lazy, useEffect, useRef, useState } from "react";
import type { CallCard } from "../../agent/conversation.ts";
import { t } from "../../language/t.ts";
import type { Approval, ToolDescriptor } from "../../protocol/generated.ts";
import { Button } from "../../ui/Button.tsx";
import { Countdown } from "../../ui/Countdown.tsx";
import { callSentence } from "../../ui/call-sentence.ts";
import { VisibleText } from "../../ui/VisibleText.tsx";
import styles from "./ApprovalDock.module.css";
import { Arguments } from "./Arguments.tsx";
import { Later } from "./Later.tsx";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceState } from "./workspace-state.ts";

const CallForm = lazy(async () => ({ default: (await import("./CallForm.tsx")).CallForm }));

interface DockProps {
  readonly workspace: Workspace;
  readonly state: WorkspaceState;
  readonly cards: readonly CallCard[];
}

/**
 * The calls that wait for a person, between log and composer, where they cannot scroll away. Nothing can be approved from
 * here: model output controls much of this page, so a person decides on the console.
 */
export function ApprovalDock({ workspace, state, cards }: DockProps) {
  const [first, ...others] = cards;
  const dock = useRef<HTMLElement>(null);
  const asked = first?.call.id;
  // In a low window the page scrolls, and a question must not come up out of sight.
  useEffect(() => {
    if (asked !== undefined) dock.current?.scrollIntoView?.({ block: "end" });
  }, [asked]);
  if (first === undefined) return null;
  return (
    <section
      ref={dock}
      className={styles.dock}
      aria-label={t`Waiting for your approval`}
      data-pane="approvals"
      tabIndex={-1}
    >
      <Waiting key={first.call.id} workspace={workspace} state={state} card={first} />
      {others.length > 0 && (
        <p className={styles.more}>{t`${others.length} more {call waits|calls wait} after this one.`}</p>
      )}
    </section>
  );
}

/** What is still missing, in words. Who has approved is told on the console alone. */
function needOf(approval: Approval | undefined): string {
  const { approvers = 1 } = approval?.needs ?? {};
  if (approvers > 1) return t`${approval?.given?.length ?? 0} of ${approvers} people have approved.`;
  return approval?.kind === "stepUp" ? t`Needs your passkey.` : t`Needs your consent.`;
}

interface WaitingProps {
  readonly workspace: Workspace;
  readonly state: WorkspaceState;
  readonly card: CallCard;
}

function Waiting({ workspace, state, card }: WaitingProps) {
  const { call, approval, approvalId } = card;
  const [looking, setLooking] = useState(false);
  const [edited, setEdited] = useState<ToolDescriptor | null>(null);
  const edit = async () => {
    setLooking(true);
    setEdited(card.tool ?? (await workspace.findTool(call.name)));
    setLooking(false);
  };
  return (
    <>
      <div className={styles.scroller}>
        <p className={styles.sentence}>
          {approval === undefined ? (
            <code>{call.name}</code>
          ) : (
            <VisibleText text={callSentence(approval.summary)} prose />
          )}
        </p>
        {approval?.effects.map((effect) => (
          <p key={effect} className={styles.effect}>
            <VisibleText text={callSentence(effect)} prose />
          </p>
        ))}
        <details className={styles.fold}>
          <summary>{t`Arguments`}</summary>
          <Arguments given={call.arguments} />
        </details>
      </div>
      <div className={styles.actions}>
        <Button
          variant="primary"
          data-pane-focus
          aria-disabled={approvalId === undefined || undefined}
          onClick={() => approvalId !== undefined && workspace.openApproval(approvalId)}
        >
          {t`Open approval`}
        </Button>
        <Button onClick={() => void workspace.cancelCall(call.id)}>{t`Cancel call`}</Button>
        <Button variant="quiet" busy={looking} onClick={() => void edit()}>
          {t`Edit and call again`}
        </Button>
        <span className={styles.left}>
          {needOf(approval)} {approval !== undefined && <Countdown until={approval.expiresAt} label={t`Expires in`} />}
        </span>
      </div>
      {edited !== null && (
        <Later state={state}>
          <CallForm
            tool={edited}
            title={t`Edit the call of ${call.name}`}
            action={t`Withdraw and call with these`}
            given={call.arguments}
            onClose={() => setEdited(null)}
            onCall={(given) => {
              setEdited(null);
              void workspace.callEdited(call.name, given);
            }}
          />
        </Later>
      )}
    </>
  );
}
