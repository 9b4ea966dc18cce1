import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { Approval } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Countdown } from "../../../ui/Countdown.tsx";
import { callSentence } from "../../../ui/call-sentence.ts";
import { Dialog } from "../../../ui/Dialog.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { TimeAgo } from "../../../ui/TimeAgo.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { ServerQuestions } from "../elicitations/ServerQuestions.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { useAsk } from "../session.tsx";
import { step, useShortcuts } from "../shortcuts.ts";
import { BrokenGlass } from "./BrokenGlass.tsx";
import styles from "./Inbox.module.css";
import { describeGiven, isShared, needsPasskey, STATUS_LABELS, STATUS_TONES } from "./labels.ts";
import { groupPlans } from "./plan.ts";
import { storeApproval, useApprovals, useWaiting } from "./queries.ts";
import { StoppedQuestions } from "./StoppedQuestions.tsx";

/** The links that `j` and `k` go to, one of each row. */
const ROW = "data-row";

/** Everything that asks for this person's decision, and below it what was decided. */
export function Inbox() {
  const approvals = useApprovals();
  const { mine, others } = useWaiting();
  useShortcuts({ j: () => step(ROW, 1), k: () => step(ROW, -1) });
  const decided = (approvals.data ?? []).filter((approval) => approval.status !== "pending");
  return (
    <>
      <PageHeading
        lead={t`Calls that the agent proposed and that run only if you approve them. The steps of one plan are on one page.`}
      >
        {t`Approvals`}
      </PageHeading>
      <BrokenGlass />
      <StoppedQuestions />
      <ServerQuestions />
      {approvals.isError && <Banner tone="danger" urgent title={explain(approvals.error)} />}
      {approvals.isPending && <Spinner label={t`Loading the approvals`} />}
      {approvals.data !== undefined && (
        <section className="stack" aria-labelledby="waiting">
          <div className="row">
            <h2 id="waiting">{t`Waiting for you`}</h2>
            {mine.length > 1 && <DenyAll waiting={mine} />}
          </div>
          {mine.length === 0 ? (
            <EmptyState title={t`Nothing waits for you`}>
              <p>{t`When the agent proposes something that needs a person, it appears here by itself.`}</p>
            </EmptyState>
          ) : (
            <ul className="stack">
              {groupPlans(mine).map(([approval, ...later]) =>
                approval === undefined ? null : <WaitingCard key={approval.id} approval={approval} later={later} />,
              )}
            </ul>
          )}
        </section>
      )}
      {others.length > 0 && (
        <section className="stack" aria-labelledby="others">
          <h2 id="others">{t`Waiting for somebody else`}</h2>
          <ul className="stack">
            {others.map((approval) => (
              <WaitingCard key={approval.id} approval={approval} />
            ))}
          </ul>
        </section>
      )}
      {decided.length > 0 && (
        <section className="stack" aria-labelledby="decided">
          <h2 id="decided">{t`Decided`}</h2>
          <ul className={styles.decided}>
            {decided.map((approval) => (
              <DecidedRow key={approval.id} approval={approval} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface WaitingCardProps {
  readonly approval: Approval;
  /** The calls that follow it, which are approved on the same page. */
  readonly later?: readonly Approval[];
}

function WaitingCard({ approval, later = [] }: WaitingCardProps) {
  // What the whole takes is what its gravest step takes.
  const gravest = [approval, ...later].find(needsPasskey) ?? approval;
  return (
    <Card as="li" tone={gravest.kind === "stepUp" ? "danger" : "waiting"}>
      <div className={styles.summary}>
        <VisibleText text={callSentence(approval.summary)} prose />
      </div>
      {later.map((each) => (
        <div key={each.id} className={styles.summary}>
          {rich`then ${<VisibleText text={callSentence(each.summary)} prose />}`}
        </div>
      ))}
      <div className="row">
        <Tag>{later.length === 0 ? approval.tool : t`${later.length + 1} steps`}</Tag>
        <Wants approval={gravest} />
        <Countdown until={approval.expiresAt} label={t`Expires in`} />
        <span className="note">{rich`asked ${<TimeAgo at={approval.requestedAt} />}`}</span>
      </div>
      <div>
        <Link className={styles.review} data-row href={paths.approval(approval.id)}>
          {t`Review`}
          <span className="visually-hidden">: {approval.tool}</span>
        </Link>
      </div>
    </Card>
  );
}

/** What an approval wants of whom. */
function Wants({ approval }: { readonly approval: Approval }) {
  if (isShared(approval)) {
    return (
      <>
        <Tag tone="danger">{describeGiven(approval)}</Tag>
        {approval.requester !== undefined && (
          <span className="note">{rich`asked for by ${<VisibleText text={approval.requester} />}`}</span>
        )}
      </>
    );
  }
  return needsPasskey(approval) ? (
    <Tag tone="danger">{t`needs your passkey`}</Tag>
  ) : (
    <Tag tone="waiting">{t`needs your consent`}</Tag>
  );
}

function DecidedRow({ approval }: { readonly approval: Approval }) {
  return (
    <li className={styles.row}>
      <Link className={styles.link} data-row href={paths.approval(approval.id)}>
        <VisibleText text={callSentence(approval.summary)} prose />
      </Link>
      <span className="row">
        <Tag tone={STATUS_TONES[approval.status]}>{STATUS_LABELS[approval.status]}</Tag>
        <span className="note">{rich`asked ${<TimeAgo at={approval.requestedAt} />}`}</span>
      </span>
    </li>
  );
}

/** Denies everything that waits now. There is no button that approves everything: each approval is for something that was read. */
function DenyAll({ waiting }: { readonly waiting: readonly Approval[] }) {
  const ask = useAsk();
  const cache = useQueryClient();
  const toast = useToast();
  // The list is taken when the dialog opens, so that nothing that arrives meanwhile is denied unseen.
  const [chosen, setChosen] = useState<readonly Approval[] | null>(null);
  const deny = useMutation({
    mutationFn: async (approvals: readonly Approval[]) => {
      let denied = 0;
      for (const { id } of approvals) {
        const { approval, challenge, standing } = await ask("approvals/get", { approvalId: id });
        storeApproval(cache, approval);
        // Whoever is only shown it, because they may act alone, has no say in whether others approve it.
        if (challenge === undefined || standing === "notAnApprover") continue;
        const decided = await ask("approvals/decide", { approvalId: id, challenge, decision: "deny" });
        storeApproval(cache, decided.approval);
        denied += 1;
      }
      return denied;
    },
    onSuccess: (denied) => {
      setChosen(null);
      toast(denied === 1 ? t`One call was denied.` : t`${denied} calls were denied.`);
    },
  });
  return (
    <>
      <Button variant="danger" size="small" onClick={() => setChosen(waiting)}>
        {t`Deny all ${waiting.length}`}
      </Button>
      <Dialog
        open={chosen !== null}
        title={t`Deny ${chosen?.length ?? 0} calls?`}
        cancelLabel={t`Keep them`}
        onClose={() => setChosen(null)}
        actions={
          <Button variant="danger" busy={deny.isPending} onClick={() => chosen !== null && deny.mutate(chosen)}>
            {t`Deny all`}
          </Button>
        }
      >
        <p>{t`None of them runs. The agent is told that you denied them.`}</p>
        {deny.isError && <Banner tone="danger" urgent title={explain(deny.error)} />}
      </Dialog>
    </>
  );
}
