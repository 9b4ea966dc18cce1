import { lazy, Suspense } from "react";
import { Link } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { Approval } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Card } from "../../../ui/Card.tsx";
import { callSentence } from "../../../ui/call-sentence.ts";
import { usePasskeys } from "../account/queries.ts";
import { groupPlans } from "../approvals/plan.ts";
import { useBrokenGlass, useWaiting } from "../approvals/queries.ts";
import { useElicitations } from "../elicitations/queries.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { useDescription } from "../session.tsx";
import styles from "./Home.module.css";
import { StartWorking } from "./StartWorking.tsx";

// On most visits nothing waits and nothing is wrong, and none of this is needed.
const BrokenGlass = lazy(async () => ({ default: (await import("../approvals/BrokenGlass.tsx")).BrokenGlass }));
const Status = lazy(async () => ({ default: (await import("./Status.tsx")).Status }));
const Today = lazy(async () => ({ default: (await import("./Today.tsx")).Today }));
const VisibleText = lazy(async () => ({ default: (await import("../../../ui/VisibleText.tsx")).VisibleText }));

/** Of so many calls that wait each is named; more are for the page of approvals. */
const NAMED = 5;

/** What a person comes for: what waits, the link to the shell, and the state of session, policy and gateway. */
export function Home() {
  const description = useDescription().data;
  const broken = useBrokenGlass().data ?? [];
  const waiting = useWaiting().mine;
  const plans = groupPlans(waiting);
  const asked = useElicitations().data ?? [];
  const nothing = asked.length === 0 ? t`Nothing waits for you` : t`No call waits for you`;
  const passkeys = usePasskeys().data;
  if (description === undefined) return null;
  const { session, agentOrigin } = description;
  return (
    <>
      <PageHeading lead={t`The agent works in the shell. What it may not do on its own is decided here.`}>
        {t`Hello, ${session.principalName}`}
      </PageHeading>
      {broken.length > 0 && (
        <Suspense>
          <BrokenGlass />
        </Suspense>
      )}
      <div className={styles.cards}>
        <Card as="section" label={t`Approvals`} tone={waiting.length + asked.length > 0 ? "waiting" : "plain"}>
          <h2>{waiting.length === 0 ? nothing : t`${waiting.length} {call waits|calls wait}`}</h2>
          {asked.length > 0 && (
            <p>
              {rich`${asked.length} {question of a server waits|questions of servers wait} on the ${(inner) => <Link href={paths.approvals}>{inner}</Link>}<approvals page>.`}
            </p>
          )}
          {plans.length < 2 ? <Single plan={plans[0] ?? []} /> : <Several plans={plans} />}
        </Card>
        <Card as="section" label={t`Shell`}>
          <h2>{t`The shell`}</h2>
          <p>
            {rich`At ${<code>{agentOrigin.replace(/^https?:\/\//, "")}</code>}. What needs your yes comes back to this console.`}
          </p>
          <p className={styles.actions}>
            <StartWorking agentOrigin={agentOrigin} />
            <a className={styles.link} href={agentOrigin} target="_blank" rel="noreferrer">
              {t`Open the shell in another window`}
            </a>
          </p>
        </Card>
      </div>
      {passkeys?.length === 1 && (
        <Banner tone="waiting" title={t`You have one passkey`}>
          <p>
            {rich`If you lose the device it is on, nobody can approve as you. ${(inner) => <Link href={paths.passkeys}>{inner}</Link>}<Add a second one>.`}
          </p>
        </Banner>
      )}
      <Suspense>
        <Today />
      </Suspense>
      <Suspense>
        <Status session={session} passkeys={passkeys?.length} />
      </Suspense>
    </>
  );
}

/** The calls of one plan, which are decided on one page; none where nothing waits. */
function Single({ plan }: { readonly plan: readonly Approval[] }) {
  const [first, ...later] = plan;
  return (
    <>
      {first !== undefined && (
        <p>
          <Summary of={first} />
        </p>
      )}
      {later.map((call) => (
        <p key={call.id}>{rich`then ${<Summary of={call} />}`}</p>
      ))}
      <p>
        <Link className={styles.link} href={first === undefined ? paths.approvals : paths.approval(first.id)}>
          {first === undefined ? t`See what was decided` : t`Review it`}
        </Link>
      </p>
    </>
  );
}

/** Each is the link to where it is decided, a plan by its first step. */
function Several({ plans }: { readonly plans: readonly (readonly Approval[])[] }) {
  const rest = plans.slice(NAMED).flat().length;
  return (
    <ul className={styles.waiting}>
      {plans.slice(0, NAMED).map(
        ([first, ...later]) =>
          first !== undefined && (
            <li key={first.id}>
              <Link className={styles.link} href={paths.approval(first.id)}>
                <span>
                  <Summary of={first} />
                  {later.length > 0 && ` ${t`and ${later.length} more`}`}
                </span>
              </Link>
            </li>
          ),
      )}
      {rest > 0 && (
        <li>
          <Link className={styles.link} href={paths.approvals}>
            {t`and ${rest} more`}
          </Link>
        </li>
      )}
    </ul>
  );
}

function Summary({ of: { summary } }: { readonly of: Approval }) {
  return (
    <Suspense fallback="…">
      <VisibleText text={callSentence(summary)} prose fold={false} />
    </Suspense>
  );
}
