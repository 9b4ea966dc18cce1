import { useState } from "react";
import { useLocation, useSearch } from "wouter";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { CheckField } from "../../../ui/Field.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { Anchors } from "./Anchors.tsx";
import { AuditTabs } from "./AuditTabs.tsx";
import { CallFilters } from "./CallFilters.tsx";
import { CallRows } from "./CallRows.tsx";
import styles from "./Calls.module.css";
import { useCallChoices, useCallCount, useCalls } from "./call-queries.ts";
import { type CallsView, isNarrowed, readCallsView, writeCallsView } from "./calls-view.ts";
import { ExportCalls } from "./ExportCalls.tsx";
import { Histogram } from "./Histogram.tsx";
import { SavedViews } from "./SavedViews.tsx";
import { SinkFaults, Sinks } from "./Sinks.tsx";

/** The calls of the log, newest first: found and counted by the gateway and never only among what happens to be loaded. */
export function Calls() {
  const [, navigate] = useLocation();
  const view = readCallsView(useSearch());
  const [following, setFollowing] = useState(false);
  const calls = useCalls(view, following);
  const count = useCallCount(view, following);
  const show = (next: CallsView) => navigate(paths.audit + writeCallsView(next));
  const loaded = calls.data?.pages.flatMap((page) => page.calls) ?? [];
  // The chart of the filter before stays until the next comes, but its number would be read as this filter's.
  const total = count.isPlaceholderData ? undefined : count.data?.total;
  const unread = calls.data?.pages[0]?.unread ?? 0;
  return (
    <>
      <PageHeading lead={t`What the agent asked for, what decided it, and what came of it.`}>{t`Audit`}</PageHeading>
      <AuditTabs />
      <SinkFaults />
      <CallFilters view={view} choices={useCallChoices().data} onChange={show} />
      {count.data !== undefined && count.data.total > 0 && (
        <Histogram count={count.data} onChoose={(from, to) => show({ ...view, from, to })} />
      )}
      <div className={styles.bar}>
        <span className="note" role="status">
          {(count.isPending || count.isPlaceholderData) && t`Counting…`}
          {total !== undefined && t`${total} {call|calls}`}
        </span>
        <CheckField
          label={t`Group by conversation`}
          checked={view.group !== ""}
          onChange={(event) => show({ ...view, group: event.currentTarget.checked ? "conversation" : "" })}
        />
        <CheckField
          label={t`Live`}
          checked={following}
          onChange={(event) => setFollowing(event.currentTarget.checked)}
        />
      </div>
      {unread > 0 && (
        <Banner tone="info" title={t`${unread} records are still being read`}>
          <p>{t`The log is long, and is told to this page for the first time. What is missing comes by itself.`}</p>
        </Banner>
      )}
      {calls.isError && (
        <Banner tone="danger" urgent title={explain(calls.error)}>
          <Button onClick={() => calls.refetch()}>{t`Try again`}</Button>
        </Banner>
      )}
      {calls.isPending && <Spinner label={t`Looking for calls`} />}
      {calls.isSuccess && loaded.length === 0 && <NoCall view={view} onShow={show} />}
      {loaded.length > 0 && (
        <>
          <CallRows calls={loaded} view={view} />
          <div className={styles.bar}>
            <span className="note">{t`${loaded.length} shown`}</span>
            {calls.hasNextPage && (
              <Button busy={calls.isFetchingNextPage} onClick={() => calls.fetchNextPage()}>
                {t`Show older calls`}
              </Button>
            )}
          </div>
        </>
      )}
      {count.data !== undefined && count.data.total > 0 && <ExportCalls view={view} total={total} />}
      <Sinks />
      <Anchors />
      <SavedViews search={writeCallsView(view)} />
    </>
  );
}

function NoCall({ view, onShow }: { readonly view: CallsView; readonly onShow: (view: CallsView) => void }) {
  const longest = view.range === "400d" && view.from === "";
  return (
    <EmptyState title={isNarrowed(view) ? t`No call matches in this time` : t`No call in this time`}>
      {!longest && (
        <Button onClick={() => onShow({ ...view, range: "400d", from: "", to: "" })}>
          {t`Look in the last 400 days`}
        </Button>
      )}
      {isNarrowed(view) && (
        <Button onClick={() => onShow(readCallsView(`?range=${view.range}`))}>{t`Show every call`}</Button>
      )}
    </EmptyState>
  );
}
