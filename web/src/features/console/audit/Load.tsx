import { useSearch } from "wouter";
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
      <PageHeading lead="How often people were asked, how long they took, and which questions a grant would have saved.">
        Load on people
      </PageHeading>
      <AuditTabs />
      <SpanChoice />
      {load.isPending && <Spinner label="Adding up" />}
      {load.isError && <Banner tone="danger" urgent title={explain(load.error)} />}
      {load.data?.people.length === 0 && <EmptyState title="Nobody began a turn in this time" />}
      {load.data !== undefined && load.data.people.length > 0 && (
        <>
          <SumTable
            caption="By person"
            heads={[
              "Person",
              "Turns",
              "Questions",
              "Per turn",
              "Median wait",
              "Denied",
              "Expired",
              "A grant would save",
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
            <EmptyState title="Nobody was asked anything in this time" />
          ) : (
            <SumTable
              caption="By tool"
              words={2}
              heads={[
                "Tool",
                "Person",
                "Questions",
                "Approved",
                "Denied",
                "Expired",
                "Median wait",
                "A grant would save",
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
            A grant would save at most as many questions as were approved where the same tool had been approved in the
            same conversation before. Calls that need a passkey each time are not among them.
          </p>
        </>
      )}
    </>
  );
}
