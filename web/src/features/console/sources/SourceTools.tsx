import {
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  useCallback,
  useDeferredValue,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { Source, SourceDecision, SourceTool, Standing } from "../../../protocol/generated.ts";
import { RpcError } from "../../../protocol/rpc.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { Field, SelectField } from "../../../ui/Field.tsx";
import { useAnnounce } from "../../../ui/LiveRegion.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { explain } from "../errors.ts";
import { AllAsProposed } from "./AllAsProposed.tsx";
import { CategoryButtons } from "./CategoryButtons.tsx";
import { ConfirmDecisions } from "./ConfirmDecisions.tsx";
import { LONGEST_SEARCH, useDecide, useTools } from "./queries.ts";
import styles from "./SourceTools.module.css";
import { goTo, NOWHERE, positionOf, rangeOf, stepOf } from "./selection.ts";
import { ToolRow } from "./ToolRow.tsx";
import { CHOICES, countedTools, nameChoice, sayModes, type ToolChoice, totalOf } from "./words.ts";

/** The tools of a source: found by text and standing, moved through and decided about with single keys. */
export function SourceTools({ source }: { readonly source: Source }) {
  const [search, setSearch] = useState("");
  const [standing, setStanding] = useState<Standing | "">("");
  const sought = useDeferredValue(search.trim());
  const tools = useTools(source.name, { search: sought, standing: standing === "" ? undefined : standing });
  const loaded = useMemo(() => tools.data?.pages.flatMap((page) => page.tools) ?? [], [tools.data]);
  const total = tools.data?.pages.at(-1)?.total ?? 0;
  return (
    <section className="stack" aria-labelledby="tools">
      <div className="row">
        <h2 id="tools">{t`Tools`}</h2>
        <AllAsProposed source={source} search={sought} />
      </div>
      <div className={styles.filters}>
        <Field
          label={t`Search names and descriptions`}
          type="search"
          value={search}
          maxLength={LONGEST_SEARCH}
          autoComplete="off"
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <SelectField
          label={t`Standing`}
          options={standings(source)}
          value={standing}
          onChange={(event) => setStanding(event.currentTarget.value as Standing | "")}
        />
      </div>
      {tools.isError && <Banner tone="danger" urgent title={explain(tools.error)} />}
      {tools.isPending && <Spinner label={t`Reading its tools`} />}
      {tools.data !== undefined && loaded.length === 0 && <NoTool source={source} />}
      {loaded.length > 0 && (
        <Grid source={source} tools={loaded} onNearEnd={() => tools.hasNextPage && void tools.fetchNextPage()} />
      )}
      {loaded.length > 0 && (
        <div className={styles.foot}>
          <span className="note">{t`${loaded.length} of ${countedTools(total)}`}</span>
          {tools.hasNextPage && (
            <Button busy={tools.isFetchingNextPage} onClick={() => tools.fetchNextPage()}>
              {t`Show more`}
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

function standings(source: Source): readonly (readonly [Standing | "", string])[] {
  const { counts } = source;
  return [
    ["", t`Any (${totalOf(source)})`],
    ["quarantined", t`Changed (${counts.quarantined})`],
    ["proposed", t`Undecided (${counts.proposed})`],
    ["inUse", t`In use (${counts.inUse})`],
    ["keptOut", t`Forbidden (${counts.keptOut})`],
  ];
}

function NoTool({ source }: { readonly source: Source }) {
  if (totalOf(source) > 0) return <EmptyState title={t`No tool matches`} />;
  return (
    <EmptyState title={t`No tools are known yet`}>
      <p>{t`They are listed here as soon as the source has said what it offers.`}</p>
    </EmptyState>
  );
}

interface GridProps {
  readonly source: Source;
  readonly tools: readonly SourceTool[];
  readonly onNearEnd: () => void;
}

/** How many rows before the last loaded one the next page is asked for. */
const NEAR_END = 5;

function Grid({ source, tools, onNearEnd }: GridProps) {
  const [place, setPlace] = useState(NOWHERE);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<readonly SourceDecision[] | null>(null);
  const grid = useRef<HTMLDivElement>(null);
  const keys = useId();
  const announce = useAnnounce();
  const decide = useDecide(source.name);

  const names = useMemo(() => tools.map(({ tool }) => tool), [tools]);
  const [first, last] = rangeOf(place, names);
  const cursor = positionOf(place, names);

  const move = (position: number, extend: boolean) => {
    const next = goTo(place, names, position, extend);
    setPlace(next);
    const at = positionOf(next, names);
    grid.current?.querySelector<HTMLElement>(`[data-position="${at}"]`)?.focus();
    if (at >= names.length - NEAR_END) onNearEnd();
  };

  const { mutate } = decide;
  const send = useCallback(
    (decisions: readonly SourceDecision[]) =>
      mutate(decisions, {
        onSuccess: (decided) => {
          setAsked(null);
          announce(decided.length === 1 && decided[0] ? say(decided[0]) : t`${countedTools(decided.length)} decided.`);
        },
        onError: () => setAsked(null),
      }),
    [mutate, announce],
  );
  const chooseOne = useCallback(
    (choice: ToolChoice | "proposed", tool: SourceTool) => send([decisionOf(choice, tool)]),
    [send],
  );
  const toggle = useCallback((tool: string) => {
    setOpened((before) => {
      const next = new Set(before);
      if (!next.delete(tool)) next.add(tool);
      return next;
    });
  }, []);
  const chooseSelected = (choice: ToolChoice | "proposed") => {
    const decisions = tools.slice(first, last + 1).map((tool) => decisionOf(choice, tool));
    if (decisions.length > 1) setAsked(decisions);
    else send(decisions);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // Keys that are meant for a button inside a row, or for the browser, are not decisions.
    const onRow = event.target instanceof HTMLElement && event.target.role === "row";
    if (!onRow || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = stepOf(event.key, names.length);
    const chosen = CHOICES.find(({ key }) => key === event.key);
    if (step !== undefined) move(cursor + step, event.shiftKey);
    else if (event.repeat) return;
    else if (chosen !== undefined) chooseSelected(chosen.choice);
    else if (event.key === "Enter" || event.key === "p") chooseSelected("proposed");
    else if (event.key === " ") toggle(names[cursor] ?? "");
    else if (event.key === "Escape" && first !== last) setPlace({ ...place, anchor: undefined });
    else return;
    event.preventDefault();
  };
  // A row that gets the focus by itself, as by Tab or a screen reader, is where the next key decides.
  const onFocus = (event: FocusEvent) => {
    const name = names[rowAt(event)];
    if (name !== undefined) {
      setPlace((before) => (before.cursor === name ? before : { cursor: name, anchor: undefined }));
    }
  };
  const onMouseDown = (event: MouseEvent) => {
    if (event.shiftKey) event.preventDefault();
  };
  const onClick = (event: MouseEvent) => {
    const position = rowAt(event);
    if (event.shiftKey && position >= 0) move(position, true);
  };

  return (
    <>
      <Keys id={keys} />
      {decide.isError && <DecisionRefused error={decide.error} />}
      {first !== last && (
        <div className={styles.selection}>
          <p>{t`${countedTools(last - first + 1)} selected`}</p>
          <CategoryButtons label={t`Decide about the selected tools`} onChoose={chooseSelected} />
        </div>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a table cannot become a list of cards on a narrow screen */}
      <div
        ref={grid}
        role="grid"
        aria-label={t`Tools of ${source.name}`}
        aria-describedby={keys}
        aria-multiselectable
        className={styles.grid}
        onKeyDown={onKeyDown}
        onFocus={onFocus}
        onMouseDown={onMouseDown}
        onClick={onClick}
      >
        {tools.map((tool, position) => (
          <ToolRow
            key={tool.tool}
            tool={tool}
            position={position}
            current={position === cursor}
            selected={position >= first && position <= last && (first !== last || place.cursor !== undefined)}
            open={opened.has(tool.tool)}
            onToggle={toggle}
            onChoose={chooseOne}
          />
        ))}
      </div>
      <ConfirmDecisions
        decisions={asked}
        busy={decide.isPending}
        onConfirm={() => asked !== null && send(asked)}
        onClose={() => setAsked(null)}
      />
    </>
  );
}

/** The position of the row that an event is about; -1 outside of all rows. */
function rowAt({ target }: { readonly target: EventTarget }): number {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-position]") : null;
  return row === null ? -1 : Number(row.dataset.position);
}

function Keys({ id }: { readonly id: string }) {
  return (
    <p id={id} className={styles.keys}>
      {rich`${<kbd>↑</kbd>} ${<kbd>↓</kbd>} or ${<kbd>k</kbd>} ${<kbd>j</kbd>} move, with ${<kbd>{t`Shift`}</kbd>} they select.`}{" "}
      {CHOICES.map(({ key, label }) => (
        <span key={key}>
          <kbd>{key}</kbd> {label.toLowerCase()},{" "}
        </span>
      ))}
      {rich`${<kbd>{t`Enter`}</kbd>} as proposed, ${<kbd>{t`Space`}</kbd>} details.`}
    </p>
  );
}

/** What went wrong with a decision. The list is loaded again by then, so that what is on the screen is what there is. */
function DecisionRefused({ error }: { readonly error: Error }) {
  const changed = error instanceof RpcError && error.word === "changed";
  return (
    <Banner tone="danger" urgent title={changed ? t`A tool changed while you looked at it` : t`Nothing was decided`}>
      <p>{explain(error)}</p>
      {changed && <p>{t`The list was loaded again and nothing was decided. Look at it again, then decide.`}</p>}
    </Banner>
  );
}

function decisionOf(choice: ToolChoice | "proposed", { tool, pin, proposed }: SourceTool): SourceDecision {
  const category = choice === "proposed" ? proposed : choice;
  return category === "keptOut" ? { tool, pin } : { tool, pin, category };
}

function say(tool: SourceTool): string {
  return `${tool.name}: ${nameChoice(tool.category ?? "keptOut")}. ${sayModes(tool)}.`;
}
