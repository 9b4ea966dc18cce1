import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { t } from "../../../language/t.ts";
import type { Approval, PlanPartView } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Countdown } from "../../../ui/Countdown.tsx";
import { classes } from "../../../ui/classes.ts";
import { useAnnounce } from "../../../ui/LiveRegion.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { useAsk, useSession } from "../session.tsx";
import { step, useShortcuts } from "../shortcuts.ts";
import styles from "./ApprovalReview.module.css";
import { useActivated } from "./activation-delay.ts";
import { approvePlan } from "./approve-plan.ts";
import type { Inspection } from "./challenge.ts";
import decision from "./Decision.module.css";
import { deny } from "./decide.ts";
import { needsPasskey } from "./labels.ts";
import { Origin } from "./Origin.tsx";
import { DENIES, PlanStep } from "./PlanStep.tsx";
import { storeApproval, useWaiting } from "./queries.ts";

/** What waits behind the steps of a plan, and what before them. */
function useOthers(ids: readonly string[]): readonly [next: string | undefined, last: string | undefined] {
  const { mine } = useWaiting();
  const places = mine.flatMap(({ id }, place) => (ids.includes(id) ? [place] : []));
  return [mine[(places.at(-1) ?? -1) + 1]?.id, mine[(places[0] ?? 0) - 1]?.id];
}

/** What is known of a step on screen: what this browser computed about it, once all of it was in sight. */
type Seen = ReadonlyMap<string, Inspection>;

/** Several calls that run one after another, as one page: every statement whole, each with its own no, and one yes for all. */
export function PlanReview({ open }: { readonly open: readonly Approval[] }) {
  const ask = useAsk();
  const first = open[0]?.id ?? "";
  const ids = open.map(({ id }) => id);
  // Another set of steps is another page: it is fetched anew, and what was seen of the others stays seen.
  const plan = useQuery({
    queryKey: ["approvals", "plan", ...ids],
    queryFn: () => ask("approvals/get-plan", { approvalId: first }),
    placeholderData: (last) => last,
  });
  if (plan.isError) return <Banner tone="danger" urgent title={explain(plan.error)} />;
  if (plan.data === undefined) return <Spinner label={t`Reading the steps`} />;
  // What was answered a moment ago is no longer a step that waits.
  const parts = plan.data.parts.filter(({ question }) => ids.includes(question.approval.id));
  return <Steps parts={parts} />;
}

function Steps({ parts }: { readonly parts: readonly PlanPartView[] }) {
  const { client, environment } = useSession();
  const cache = useQueryClient();
  const announce = useAnnounce();
  const [seen, setSeen] = useState<Seen>(new Map());
  const [failure, setFailure] = useState<Error | null>(null);
  const onSeen = useCallback(
    (id: string, inspection: Inspection) => setSeen((known) => new Map(known).set(id, inspection)),
    [],
  );
  const covered = parts.filter((part) => part.covered).map(({ question }) => question);
  const subject = parts.map(({ question }) => `${question.approval.id} ${question.preview?.digest}`).join(" ");
  const activated = useActivated(subject);
  const approving = useMutation({
    mutationFn: () => {
      const shown = new Map(
        covered.flatMap(({ approval: { id } }) => {
          const inspection = seen.get(id);
          return inspection === undefined ? [] : [[id, inspection] as const];
        }),
      );
      return approvePlan(client, environment, shown, covered[0]?.approval.id ?? "");
    },
    onMutate: () => setFailure(null),
    onError: setFailure,
    onSuccess: ({ approvals }) => {
      for (const approval of approvals) storeApproval(cache, approval);
      announce(t`Approved ${approvals.length} steps.`);
    },
  });
  const denying = useMutation({
    mutationFn: (id: string) => deny(client, id),
    onMutate: () => setFailure(null),
    onError: setFailure,
    onSuccess: ({ approval }) => {
      storeApproval(cache, approval);
      announce(t`Denied. That step does not run.`);
    },
  });
  const unseen = covered.filter(({ approval }) => !seen.has(approval.id)).length;
  const possible =
    covered.length > 1 &&
    unseen === 0 &&
    covered.every(
      ({ approval, preview }) => seen.get(approval.id)?.mismatches.length === 0 && preview?.change !== "impossible",
    );
  const busy = approving.isPending || denying.isPending;
  const until = covered.map(({ approval }) => approval.expiresAt).sort()[0];
  const passkey = covered.some(({ approval }) => needsPasskey(approval));
  const list = useRef<HTMLOListElement>(null);
  const yes = useRef<HTMLButtonElement>(null);
  const [next, last] = useOthers(parts.map(({ question }) => question.approval.id));
  const [, navigate] = useLocation();
  const go = (to: string | undefined) => to !== undefined && navigate(paths.approval(to));
  useShortcuts({
    a: () => yes.current?.focus(),
    // Each time that of a further step.
    d: () => step(DENIES, 1),
    j: () => go(next),
    k: () => go(last),
  });
  useEffect(() => {
    // The pressed button is gone with its step; whoever works by keyboard goes on among the steps that are left.
    if (denying.isSuccess && document.activeElement === document.body) list.current?.focus();
  }, [denying.isSuccess]);
  return (
    <article className={styles.question}>
      <Link href={paths.approvals} className={styles.link}>
        {t`All approvals`}
      </Link>
      <PageHeading
        lead={t`They run in this order, each only when the one before it went well. Deny any of them and the others stay.`}
      >
        {t`${parts.length} steps wait for your approval`}
      </PageHeading>
      {parts[0] !== undefined && <Origin question={parts[0].question} />}
      <ol ref={list} className={styles.steps} tabIndex={-1} aria-label={t`Steps`}>
        {parts.map(({ question, covered: mine }) => (
          <PlanStep
            key={question.approval.id}
            question={question}
            covered={mine}
            onSeen={onSeen}
            onDeny={() => denying.mutate(question.approval.id)}
            denying={denying.isPending && denying.variables === question.approval.id}
            disabled={!activated || busy}
          />
        ))}
      </ol>
      <section className={classes(decision.decision, decision.docked)} aria-label={t`Your decision`} tabIndex={-1}>
        {failure !== null && (
          <Banner tone="danger" urgent title={t`Your answer did not count`}>
            <p>{explain(failure)}</p>
          </Banner>
        )}
        <Button
          ref={yes}
          variant="primary"
          wide
          busy={approving.isPending}
          aria-disabled={!activated || !possible || (busy && !approving.isPending)}
          onClick={() => possible && approving.mutate()}
        >
          {approving.isPending && passkey
            ? t`Waiting for your passkey`
            : passkey
              ? t`Approve all ${covered.length} with passkey`
              : t`Approve all ${covered.length}`}
        </Button>
        <div className="row">
          {until !== undefined && <Countdown until={until} label={t`Expires in`} />}
          {unseen > 0 && (
            <span className="note">{t`${unseen} {step|steps} to read to the end before you can approve.`}</span>
          )}
          {!activated && (
            <span className="note">{t`The buttons work once this window has been in front for a moment.`}</span>
          )}
        </div>
      </section>
    </article>
  );
}
