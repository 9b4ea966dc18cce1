import { Link } from "wouter";
import { t } from "../../../language/t.ts";
import type { Grant } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Countdown } from "../../../ui/Countdown.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { JsonView } from "../../../ui/JsonView.tsx";
import { KeyValue, type Row } from "../../../ui/KeyValue.tsx";
import { describePattern } from "../../../ui/patterns.ts";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { useGrants, useRevokeGrant } from "./queries.ts";

/** Every grant in force, with what is left of it. */
export function Grants() {
  const grants = useGrants();
  return (
    <>
      <PageHeading
        lead={t`Approvals you gave for a turn or a session. Calls that a grant covers run without asking, until it expires, its uses are spent or you revoke it.`}
      >
        {t`Grants`}
      </PageHeading>
      {grants.isError && <Banner tone="danger" urgent title={explain(grants.error)} />}
      {grants.isPending && <Spinner label={t`Reading your grants`} />}
      {grants.data?.length === 0 && (
        <EmptyState title={t`No grant is in force`}>
          <p>{t`Every call that needs your approval asks for it. To be asked less often, choose “For this turn” or “For this session” when you approve a call.`}</p>
        </EmptyState>
      )}
      {grants.data !== undefined && grants.data.length > 0 && (
        <ul className="stack">
          {grants.data.map((grant) => (
            <GrantCard key={grant.id} grant={grant} />
          ))}
        </ul>
      )}
    </>
  );
}

function GrantCard({ grant }: { readonly grant: Grant }) {
  const revoke = useRevokeGrant();
  const toast = useToast();
  const onRevoke = () =>
    revoke.mutate(grant.id, { onSuccess: () => toast(t`The grant for ${grant.tool} was revoked.`) });
  return (
    <Card as="li">
      <div className="row">
        <h2>
          <code>{grant.tool}</code>
        </h2>
        <Tag tone="accent">{grant.scope === "turn" ? t`this turn` : t`this session`}</Tag>
        <Countdown until={grant.expiresAt} label={t`Ends in`} />
        <span className="note">{t`used ${grant.uses} of ${grant.maxUses} times`}</span>
      </div>
      <KeyValue rows={coverageRows(grant)} />
      {revoke.isError && <Banner tone="danger" urgent title={explain(revoke.error)} />}
      <div className="row">
        <Button variant="danger" busy={revoke.isPending} onClick={onRevoke}>
          {t`Revoke`}
        </Button>
        <Link href={paths.approval(grant.approvalId)}>{t`The approval it came from`}</Link>
      </div>
    </Card>
  );
}

function coverageRows(grant: Grant): Row[] {
  const pinned = Object.entries(grant.pins).map(([name, value]) => ({
    name,
    term: <VisibleText text={name} />,
    value: <JsonView value={value} />,
  }));
  const freed = grant.freed.map((name) => ({
    name,
    term: <VisibleText text={name} />,
    value: <Tag tone="waiting">{grant.within ? describePattern(grant.within) : t`any value`}</Tag>,
  }));
  const all = [...pinned, ...freed];
  return all.length > 0 ? all : [{ name: t`Arguments`, value: t`none` }];
}
