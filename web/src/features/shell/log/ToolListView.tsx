import { useEffect, useMemo, useRef, useState } from "react";
import type { Panel } from "../../../agent/events.ts";
import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import { ExternalText } from "../../../ui/ExternalText.tsx";
import { Field } from "../../../ui/Field.tsx";
import { RuleSentence } from "../../../ui/RuleSentence.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { MODES } from "./call-labels.ts";
import styles from "./ToolListView.module.css";
import { countOf, groupTools, type ListedTool, searchTools, type ToolGroup } from "./tool-groups.ts";

type ToolsPanel = Extract<Panel, { readonly kind: "tools" }>;

/** Tools that stand open at once without being asked for: what a person can look through. */
const SHOWN = 50;

/** Lists that were brought into view when they came. A conversation that is opened again leaves the focus where it is. */
const greeted = new WeakSet<ToolsPanel>();

/** The tools of a conversation by source: searched while one types, and shown a page at a time. */
export function ToolListView({ panel }: { readonly panel: ToolsPanel }) {
  const { tools, obstacles } = panel;
  const [sought, setSought] = useState(panel.search);
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const section = useRef<HTMLElement>(null);
  const all = useMemo(() => groupTools(tools, obstacles), [tools, obstacles]);
  const found = useMemo(() => searchTools(all, sought), [all, sought]);
  const isLong = tools.length > SHOWN;
  useEffect(() => {
    if (greeted.has(panel) || !isLong) return;
    greeted.add(panel);
    section.current?.scrollIntoView({ block: "start" });
    section.current?.querySelector("input")?.focus({ preventScroll: true });
  }, [panel, isLong]);
  let before = 0;
  return (
    <section ref={section} className={styles.list} aria-label={t`Tools of this conversation`}>
      <h2>{t`Tools of this conversation`}</h2>
      {tools.length === 0 && <p>{t`There are none.`}</p>}
      {tools.length > 0 && (
        <>
          <Field
            label={t`Search the tools`}
            hint={t`By name, summary and source. /inspect NAME shows one with its arguments.`}
            type="search"
            autoComplete="off"
            spellCheck={false}
            value={sought}
            onChange={(event) => {
              setSought(event.currentTarget.value);
              setToggled(new Map());
            }}
          />
          <p role="status" className={styles.note}>
            {describeFound(countOf(found), tools.length, found.length)}
          </p>
        </>
      )}
      {found.map((group) => {
        const open = toggled.get(group.source) ?? before < SHOWN;
        before += group.tools.length;
        return (
          <SourceGroup
            key={group.source}
            group={group}
            open={open}
            pageKey={sought}
            onToggle={(now) => setToggled(new Map(toggled).set(group.source, now))}
          />
        );
      })}
    </section>
  );
}

interface GroupProps {
  readonly group: ToolGroup;
  readonly open: boolean;
  /** Another search begins with the first page again. */
  readonly pageKey: string;
  readonly onToggle: (open: boolean) => void;
}

function SourceGroup({ group, open, pageKey, onToggle }: GroupProps) {
  const { name, kind, tools, shared } = group;
  const callable = tools.filter(({ tool }) => tool.permission !== "forbidden").length;
  return (
    <details
      className={styles.group}
      open={open}
      onToggle={({ currentTarget }) => currentTarget.open !== open && onToggle(currentTarget.open)}
    >
      <summary className={styles.source}>
        <h3>
          <ExternalText text={name} />
        </h3>
        <span className={styles.note}>
          {[kind, countTools(tools.length), callable < tools.length && t`${callable} can be called`]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </summary>
      {shared.map(({ obstacle, count }) => (
        <p key={`${obstacle.reason} ${obstacle.why}`} className={styles.obstacle}>
          <Tag tone="danger">{nameObstacle(obstacle)}</Tag> {countTools(count)}:{" "}
          <RuleSentence why={obstacle.why} plain />
        </p>
      ))}
      {open && <Rows key={pageKey} group={group} />}
    </details>
  );
}

function Rows({ group: { name, tools, shared } }: { readonly group: ToolGroup }) {
  const [shown, setShown] = useState(SHOWN);
  const list = useRef<HTMLUListElement>(null);
  const [firstNew, setFirstNew] = useState<number | null>(null);
  const rest = tools.length - shown;
  useEffect(() => {
    // The button that was pressed is further down now, or gone; reading goes on at the first row that is new.
    if (firstNew !== null) list.current?.querySelectorAll<HTMLElement>(":scope > li")[firstNew]?.focus();
  }, [firstNew]);
  return (
    <>
      <ul ref={list} className={styles.tools} aria-label={t`Tools of ${name}`}>
        {tools.slice(0, shown).map((listed) => (
          <ToolRow
            key={listed.tool.name}
            listed={listed}
            explained={shared.some(({ obstacle }) => obstacle === listed.obstacle)}
          />
        ))}
      </ul>
      {rest > 0 && (
        <div className={styles.more}>
          <Button
            size="small"
            onClick={() => {
              setFirstNew(shown);
              setShown(shown + SHOWN);
            }}
          >
            {t`Show ${Math.min(SHOWN, rest)} more`}
          </Button>
          <span className={styles.note}>{t`${shown} of ${tools.length}`}</span>
        </div>
      )}
    </>
  );
}

function ToolRow({ listed, explained }: { readonly listed: ListedTool; readonly explained: boolean }) {
  const { tool, obstacle, summary } = listed;
  const { label, tone } = MODES[tool.permission];
  return (
    <li className={styles.tool} tabIndex={-1}>
      <span className={styles.head}>
        <code>{tool.name}</code>
        <Tag tone={tone}>{obstacle === undefined ? label : nameObstacle(obstacle)}</Tag>
      </span>
      <span className={styles.note} dir="auto">
        <ExternalText text={summary} />
      </span>
      {obstacle !== undefined && !explained && (
        <span className={styles.why}>
          <RuleSentence why={obstacle.why} plain />
        </span>
      )}
    </li>
  );
}

function nameObstacle({ reason }: { readonly reason: string }): string {
  return reason === "sourceUnavailable" ? t`Unavailable` : MODES.forbidden.label;
}

function describeFound(found: number, all: number, sources: number): string {
  if (found === 0) return t`No tool has all of these words.`;
  const tools = countTools(all);
  if (found === all) return sources === 1 ? t`${tools} from one source` : t`${tools} from ${sources} sources`;
  return sources === 1 ? t`${found} of ${tools}, from one source` : t`${found} of ${tools}, from ${sources} sources`;
}

function countTools(count: number): string {
  return count === 1 ? t`one tool` : t`${count} tools`;
}
