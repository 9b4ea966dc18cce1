import { Link } from "wouter";
import type { PolicyDescription } from "../../protocol/generated.ts";
import { Banner } from "../../ui/Banner.tsx";
import { Card } from "../../ui/Card.tsx";
import { KeyValue } from "../../ui/KeyValue.tsx";
import { Tag } from "../../ui/Tag.tsx";
import { TimeAgo } from "../../ui/TimeAgo.tsx";
import { VisibleText } from "../../ui/VisibleText.tsx";
import styles from "./Home.module.css";
import { PageHeading } from "./PageHeading.tsx";
import { paths } from "./paths.ts";
import { useApprovals, useDescription, usePasskeys, usePolicy, useTroubles } from "./queries.ts";
import { useTitle, waitingIn } from "./title.ts";

/** What a person comes for: what waits, the way to the shell, and how the house stands. */
export function Home() {
  useTitle("Home");
  const description = useDescription().data;
  const waiting = waitingIn(useApprovals().data);
  const passkeys = usePasskeys().data;
  const policy = usePolicy().data;
  const troubles = useTroubles().data;
  if (description === undefined) return null;
  const { session, agentOrigin } = description;
  return (
    <>
      <PageHeading lead="The agent works in the shell. What it may not do on its own is decided here.">
        Hello, {session.principalName}
      </PageHeading>
      <div className={styles.cards}>
        <Card as="section" label="Approvals" tone={waiting.length > 0 ? "waiting" : "plain"}>
          <h2>
            {waiting.length === 0 ? "Nothing waits for you" : counted(waiting.length, "call waits", "calls wait")}
          </h2>
          {waiting[0] !== undefined && (
            <p>
              <VisibleText text={waiting[0].summary} prose />
            </p>
          )}
          <p>
            <Link
              className={styles.way}
              href={waiting[0] === undefined ? paths.approvals : paths.approval(waiting[0].id)}
            >
              {waiting.length === 0 ? "See what was decided" : "Review it"}
            </Link>
          </p>
        </Card>
        <Card as="section" label="Shell">
          <h2>The shell</h2>
          <p>
            At <code>{agentOrigin.replace(/^https?:\/\//, "")}</code>, in a window of its own.
          </p>
          <p>
            <a className={styles.way} href={agentOrigin} target="_blank" rel="noreferrer">
              Open the shell
            </a>
          </p>
        </Card>
      </div>
      {passkeys?.length === 1 && (
        <Banner tone="waiting" title="You have one passkey">
          <p>
            If you lose the device it is on, nobody can approve as you.{" "}
            <Link href={paths.passkeys}>Add a second one</Link>.
          </p>
        </Banner>
      )}
      <Card as="section" label="How things stand">
        <h2>How things stand</h2>
        <KeyValue
          rows={[
            { name: "Profile", value: session.profile },
            {
              name: "Session",
              value: (
                <>
                  ends <TimeAgo at={session.expiresAt} />
                </>
              ),
            },
            { name: "Passkeys", value: passkeys === undefined ? "…" : counted(passkeys.length, "passkey", "passkeys") },
            ...(policy === undefined ? [] : [{ name: "Policy", value: <InForce policy={policy} /> }]),
            { name: "Gateway", value: <Readiness troubles={troubles} /> },
          ]}
        />
      </Card>
    </>
  );
}

function InForce({ policy }: { readonly policy: PolicyDescription }) {
  return (
    <>
      {counted(policy.rules.length, "rule", "rules")} over {counted(policy.tools.length, "tool", "tools")}, version{" "}
      <code title={policy.version}>{policy.version.slice(0, 12)}</code>
    </>
  );
}

function Readiness({ troubles }: { readonly troubles: readonly string[] | undefined }) {
  if (troubles === undefined) return "…";
  if (troubles.length === 0) return <Tag tone="ok">ready</Tag>;
  return (
    <ul>
      {troubles.map((trouble) => (
        <li key={trouble}>
          <VisibleText text={trouble} prose />
        </li>
      ))}
    </ul>
  );
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
