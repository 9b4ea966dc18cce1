import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "wouter";
import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Spinner } from "../../../../ui/Spinner.tsx";
import { explain } from "../../errors.ts";
import { PageHeading } from "../../PageHeading.tsx";
import { paths } from "../../paths.ts";
import { useAsk } from "../../session.tsx";
import { Explanation } from "./Explanation.tsx";
import { ImagineCall } from "./ImagineCall.tsx";

/** Why a call was decided as it was, or would be: the rules that take part, and what would change it. */
export function Explain() {
  const search = new URLSearchParams(useSearch());
  const conversationId = search.get("conversation");
  const callId = search.get("call");
  return (
    <>
      <PageHeading
        lead={t`Which rules decide about a call, and what would change it. Nothing runs, and nobody is asked.`}
      >
        {t`Explain a call`}
      </PageHeading>
      <p>
        <Link href={paths.policy}>{t`What the policy allows, in words`}</Link>
      </p>
      {conversationId !== null && callId !== null ? (
        <RecordedCall conversationId={conversationId} callId={callId} />
      ) : (
        <ImagineCall />
      )}
    </>
  );
}

interface RecordedCallProps {
  readonly conversationId: string;
  readonly callId: string;
}

function RecordedCall({ conversationId, callId }: RecordedCallProps) {
  const ask = useAsk();
  const told = useQuery({
    queryKey: ["policy-explanation", conversationId, callId],
    queryFn: () => ask("policy/explain", { call: { conversationId, callId } }),
  });
  return (
    <div className="stack">
      {told.isError && <Banner tone="danger" urgent title={explain(told.error)} />}
      {told.isPending && <Spinner label={t`Judging the call again`} />}
      {told.data !== undefined && <Explanation told={told.data} />}
      <p>
        {rich`${(inner) => <Link href={paths.auditOf(conversationId)}>{inner}</Link>}<The records of its conversation>, or ${(inner) => <Link href={paths.policyExplain}>{inner}</Link>}<imagine a call>`}
      </p>
    </div>
  );
}
