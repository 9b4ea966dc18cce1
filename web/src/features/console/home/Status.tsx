import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { ConsoleSessionView, PolicyDescription } from "../../../protocol/generated.ts";
import { Card } from "../../../ui/Card.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { LanguageField } from "../../../ui/LanguageField.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { TimeAgo } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { PROFILE_NAMES } from "../profile-names.ts";
import { usePolicy, useReadinessProblems } from "./queries.ts";

interface StatusProps {
  readonly session: ConsoleSessionView;
  /** How many there are, once that is known. */
  readonly passkeys: number | undefined;
}

/** The state of this session, the policy in force and the gateway. */
export function Status({ session, passkeys }: StatusProps) {
  const policy = usePolicy().data;
  const problems = useReadinessProblems().data;
  return (
    <Card as="section" label={t`Status`}>
      <h2>{t`Status`}</h2>
      <KeyValue
        rows={[
          { name: t`Profile`, value: PROFILE_NAMES[session.profile] },
          {
            name: t`Session`,
            value: <>{rich`ends ${<TimeAgo at={session.expiresAt} />}`}</>,
          },
          { name: t`Passkeys`, value: passkeys === undefined ? "…" : t`${passkeys} {passkey|passkeys}` },
          ...(policy === undefined ? [] : [{ name: t`Policy`, value: <InForce policy={policy} /> }]),
          { name: t`Gateway`, value: <Readiness problems={problems} /> },
        ]}
      />
      <LanguageField />
    </Card>
  );
}

function InForce({ policy }: { readonly policy: PolicyDescription }) {
  return (
    <>
      {rich`${policy.rules.length} {rule|rules} over ${policy.tools.length} {tool|tools}, version ${<code title={policy.version}>{policy.version.slice(0, 12)}</code>}`}
    </>
  );
}

function Readiness({ problems }: { readonly problems: readonly string[] | undefined }) {
  if (problems === undefined) return "…";
  if (problems.length === 0) return <Tag tone="ok">{t`ready`}</Tag>;
  return (
    <ul>
      {problems.map((problem) => (
        <li key={problem}>
          <VisibleText text={problem} prose />
        </li>
      ))}
    </ul>
  );
}
