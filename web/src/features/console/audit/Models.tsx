import { useSearch } from "wouter";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { AuditTabs } from "./AuditTabs.tsx";
import { useModelUse } from "./call-queries.ts";
import { lengthOf, SpanChoice } from "./SpanChoice.tsx";
import { SumTable } from "./SumTable.tsx";
import { share, whole } from "./sums.ts";

/** What was used of each model, and how many calls it proposed. */
export function Models() {
  const use = useModelUse(lengthOf(useSearch()));
  return (
    <>
      <PageHeading lead={t`Turns, requests, tokens and calls of each model, as far as they went through the gateway.`}>
        {t`Models`}
      </PageHeading>
      <AuditTabs />
      <SpanChoice />
      {use.isPending && <Spinner label={t`Adding up`} />}
      {use.isError && <Banner tone="danger" urgent title={explain(use.error)} />}
      {use.data?.models.length === 0 && <EmptyState title={t`No model was used in this time`} />}
      {use.data !== undefined && use.data.models.length > 0 && (
        <SumTable
          caption={t`By model`}
          heads={[
            t`Model`,
            t`Turns`,
            t`Requests`,
            t`Failed`,
            t`Tokens read`,
            t`Tokens written`,
            t`Seconds`,
            t`Calls`,
            t`Started`,
            t`Calls per turn`,
          ]}
          rows={use.data.models.map((model) => ({
            key: model.modelId ?? "",
            cells: [
              model.modelId === undefined ? t`not known to the gateway` : <VisibleText key="id" text={model.modelId} />,
              whole(model.turns),
              whole(model.requests),
              whole(model.failures),
              whole(model.promptTokens),
              whole(model.completionTokens),
              model.seconds === 0 ? "–" : share(model.seconds),
              whole(model.calls),
              whole(model.callsRan),
              share(model.callsPerTurn),
            ],
          }))}
        />
      )}
    </>
  );
}
