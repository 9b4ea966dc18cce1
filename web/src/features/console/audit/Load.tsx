import { useSearch } from "wouter";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { AuditTabs } from "./AuditTabs.tsx";
import { useLoad } from "./call-queries.ts";
import { lengthOf, SpanChoice } from "./SpanChoice.tsx";
import { SumTable } from "./SumTable.tsx";
import { seconds, share, whole } from "./sums.ts";

/** How much people were asked, by person and by tool: where questions cost the most, and where a grant would have saved some. */
export function Load() {
  const load = useLoad(lengthOf(useSearch()));
  return (
    <>
      <PageHeading
        lead={t`How often people were asked, how long they took, and which questions a grant would have saved.`}
      >
        {t`Load on people`}
      </PageHeading>
      <AuditTabs />
      <SpanChoice />
      {load.isPending && <Spinner label={t`Adding up`} />}
      {load.isError && <Banner tone="danger" urgent title={explain(load.error)} />}
      {load.data?.people.length === 0 && <EmptyState title={t`Nobody began a turn in this time`} />}
      {load.data !== undefined && load.data.people.length > 0 && (
        <>
          <SumTable
            caption={t`By person`}
            heads={[
              t`Person`,
              t`Turns`,
              t`Questions`,
              t`Per turn`,
              t`Median wait`,
              t`Denied`,
              t`Expired`,
              t`A grant would save`,
            ]}
            rows={load.data.people.map((person) => ({
              key: person.principalId,
              cells: [
                <VisibleText key="name" text={person.principalName} prose />,
                whole(person.turns),
                whole(person.asked),
                share(person.questionsPerTurn),
                seconds(person.medianWaitMs),
                whole(person.denied),
                whole(person.expired),
                whole(person.repeated),
              ],
            }))}
          />
          {load.data.tools.length === 0 ? (
            <EmptyState title={t`Nobody was asked anything in this time`} />
          ) : (
            <SumTable
              caption={t`By tool`}
              words={2}
              heads={[
                t`Tool`,
                t`Person`,
                t`Questions`,
                t`Approved`,
                t`Denied`,
                t`Expired`,
                t`Median wait`,
                t`A grant would save`,
              ]}
              rows={load.data.tools.map((tool) => ({
                key: `${tool.principalId} ${tool.tool}`,
                cells: [
                  <VisibleText key="tool" text={tool.tool} fold={false} />,
                  <VisibleText key="name" text={tool.principalName} prose />,
                  whole(tool.asked),
                  whole(tool.approved),
                  whole(tool.denied),
                  whole(tool.expired),
                  seconds(tool.medianWaitMs),
                  whole(tool.repeated),
                ],
              }))}
            />
          )}
          <p className="note">
            {t`A grant would save at most as many questions as were approved where the same tool had been approved in the same conversation before. Calls that need a passkey each time are not among them.`}
          </p>
        </>
      )}
    </>
  );
}
