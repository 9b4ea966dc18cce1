import { useInfiniteQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { Field, SelectField } from "../../../ui/Field.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { useAsk, useReadsAll } from "../session.tsx";
import { AuditTabs } from "./AuditTabs.tsx";
import { EntryList } from "./EntryList.tsx";
import { type AuditView, EVENTS, filterOf, OUTCOMES, readView, writeView } from "./filters.ts";
import styles from "./Records.module.css";
import { Verification } from "./Verification.tsx";

const PAGE = 50;

/** The log, newest first, filtered by the gateway and never only among what happens to be loaded. */
export function Records() {
  const [, navigate] = useLocation();
  const readsAll = useReadsAll();
  const view = readView(useSearch());
  const entries = useEntries(view);
  const loaded = entries.data?.pages.flatMap((page) => page.entries) ?? [];
  const size = entries.data?.pages[0]?.size;
  return (
    <>
      <PageHeading
        lead={t`What was asked, decided and done. A call is recorded before it runs. Entries are only ever added: one that was changed or taken out would show.`}
      >
        {t`Every record`}
      </PageHeading>
      <AuditTabs />
      {readsAll && <Verification />}
      <Filters key={writeView(view)} view={view} onApply={(next) => navigate(paths.auditRecords + writeView(next))} />
      {entries.isError && <Banner tone="danger" urgent title={explain(entries.error)} />}
      {entries.isPending && <Spinner label={t`Loading the log`} />}
      {entries.data !== undefined && loaded.length === 0 && (
        <EmptyState title={t`No entry matches`}>
          {filterOf(view) !== undefined && (
            <Button onClick={() => navigate(paths.auditRecords)}>{t`Show everything`}</Button>
          )}
        </EmptyState>
      )}
      {loaded.length > 0 && (
        <>
          <EntryList entries={loaded} />
          <div className={styles.foot}>
            <span className="note">
              {t`${loaded.length} shown`}
              {size !== undefined && t`, ${size} in the whole log`}
            </span>
            {entries.hasNextPage && (
              <Button busy={entries.isFetchingNextPage} onClick={() => entries.fetchNextPage()}>
                {t`Show older entries`}
              </Button>
            )}
          </div>
        </>
      )}
    </>
  );
}

function useEntries(view: AuditView) {
  const ask = useAsk();
  return useInfiniteQuery({
    queryKey: ["audit", view],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const filter = filterOf(view);
      return ask("audit/list", {
        limit: PAGE,
        ...(filter && { filter }),
        ...(pageParam !== undefined && { cursor: pageParam }),
      });
    },
    getNextPageParam: (last) => last.nextCursor,
  });
}

function Filters({ view, onApply }: { readonly view: AuditView; readonly onApply: (view: AuditView) => void }) {
  const [draft, setDraft] = useState(view);
  const change = (part: Partial<AuditView>) => setDraft({ ...draft, ...part });
  const known = (options: readonly (readonly [string, string])[], value: string) =>
    options.some(([option]) => option === value) ? options : [...options, [value, value] as const];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onApply({ ...draft, tool: draft.tool.trim(), conversation: draft.conversation.trim() });
  };
  return (
    <form className={styles.filters} aria-label={t`Filter the log`} onSubmit={submit}>
      <SelectField
        label={t`Event`}
        options={known(EVENTS, draft.event)}
        value={draft.event}
        onChange={(event) => change({ event: event.currentTarget.value })}
      />
      <SelectField
        label={t`Outcome`}
        options={known(OUTCOMES, draft.outcome)}
        value={draft.outcome}
        onChange={(event) => change({ outcome: event.currentTarget.value })}
      />
      <Field
        label={t`Tool`}
        value={draft.tool}
        maxLength={128}
        placeholder={t`any`}
        autoComplete="off"
        onChange={(event) => change({ tool: event.currentTarget.value })}
      />
      <Field
        label={t`Conversation`}
        value={draft.conversation}
        maxLength={64}
        placeholder={t`any`}
        autoComplete="off"
        onChange={(event) => change({ conversation: event.currentTarget.value })}
      />
      <Button type="submit">{t`Filter`}</Button>
    </form>
  );
}
