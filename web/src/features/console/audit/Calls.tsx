import { useState } from "react";
import { useLocation, useSearch } from "wouter";
import { t } from "../../../language/t.ts";
import type { CallChoices } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { CheckField } from "../../../ui/Field.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { Anchors } from "./Anchors.tsx";
import { AuditTabs } from "./AuditTabs.tsx";
import { CallFilters } from "./CallFilters.tsx";
import { CallRows } from "./CallRows.tsx";
import styles from "./Calls.module.css";
import { useCallChoices, useCallCount, useCalls } from "./call-queries.ts";
import { type CallsView, isNarrowed, leftOutOf, readCallsView, unknownIn, writeCallsView } from "./calls-view.ts";
import { ExportCalls } from "./ExportCalls.tsx";
import { Histogram } from "./Histogram.tsx";
import { SavedViews } from "./SavedViews.tsx";
import { SinkFaults, Sinks } from "./Sinks.tsx";

/** The calls of the log, newest first: found and counted by the gateway and never only among what happens to be loaded. */
export function Calls() {
  const [, navigate] = useLocation();
  const search = useSearch();
  const view = readCallsView(search);
  const leftOut = leftOutOf(search);
  const [following, setFollowing] = useState(false);
  const choices = useCallChoices(following).data;
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
      {leftOut.length > 0 && (
        <Banner tone="waiting" title={t`The address asks for something that this page does not know. It was left out:`}>
          <ul>
            {leftOut.map((each) => (
              <li key={each}>
                <VisibleText text={each} />
              </li>
            ))}
          </ul>
        </Banner>
      )}
      <CallFilters view={view} choices={choices} onChange={show} />
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
      {calls.isSuccess && loaded.length === 0 && <NoCall view={view} choices={choices} onShow={show} />}
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

interface NoCallProps {
  readonly view: CallsView;
  readonly choices: CallChoices | undefined;
  readonly onShow: (view: CallsView) => void;
}

function NoCall({ view, choices, onShow }: NoCallProps) {
  const longest = view.range === "400d" && view.from === "";
  const unknown = choices === undefined ? [] : unknownIn(view, choices);
  return (
    <EmptyState title={isNarrowed(view) ? t`No call matches in this time` : t`No call in this time`}>
      {unknown.map(([word, value]) => (
        <p key={word}>
          {t`At no time was there a call with:`} {word} <VisibleText text={value} />
        </p>
      ))}
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
