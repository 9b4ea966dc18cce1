import { type KeyboardEvent, useRef } from "react";
import { Link } from "wouter";
import { t } from "../../../language/t.ts";
import type { AuditedCall } from "../../../protocol/generated.ts";
import { classes } from "../../../ui/classes.ts";
import { clockTime, fullDay } from "../../../ui/moments.ts";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { CutTitle } from "../CutTitle.tsx";
import { paths } from "../paths.ts";
import { step, useShortcuts } from "../shortcuts.ts";
import styles from "./CallRows.module.css";
import { useTitleOf } from "./call-queries.ts";
import { decisionOf, endOf, reasonOf } from "./call-words.ts";
import { type CallsView, writeCallsView } from "./calls-view.ts";
import { endingOf, noTool } from "./outcome-words.ts";

/** The links that the keys go to, one of each row. */
const ROW = "data-row";

interface CallRowsProps {
  readonly calls: readonly AuditedCall[];
  readonly view: CallsView;
}

/** Calls, newest first: a heading for each day, and where it is asked for one for each conversation and turn. */
export function CallRows({ calls, view }: CallRowsProps) {
  const list = useRef<HTMLDivElement>(null);
  useShortcuts({ j: () => step(ROW, 1), k: () => step(ROW, -1) });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the rows are links, and the arrows only go from one to the next
    <div ref={list} className={styles.list} onKeyDown={(event) => goOn(event, list.current)}>
      {view.group === "conversation" ? <Conversations calls={calls} view={view} /> : <Days calls={calls} />}
    </div>
  );
}

function Days({ calls }: { readonly calls: readonly AuditedCall[] }) {
  return groupBy(calls, (call) => fullDay.format(Date.parse(call.at))).map(([name, ofDay]) => (
    <section key={name} aria-label={name}>
      <h2 className={styles.day}>{name}</h2>
      <Rows calls={ofDay} />
    </section>
  ));
}

function Conversations({ calls, view }: CallRowsProps) {
  return groupBy(calls, (call) => call.conversationId).map(([id, ofConversation]) => (
    <section key={id} aria-label={t`Conversation ${id}`}>
      {ofConversation[0] !== undefined && <ConversationHeading call={ofConversation[0]} view={view} />}
      {groupBy(ofConversation, (call) => call.turnId).map(([turn, ofTurn]) => (
        <section key={turn}>
          <h3 className={styles.turn}>
            {ofTurn[0]?.turnIndex === undefined ? t`Turn` : t`Turn ${ofTurn[0].turnIndex + 1}`} ·{" "}
            {t`${ofTurn.length} {call|calls}`}
          </h3>
          <Rows calls={ofTurn} />
        </section>
      ))}
    </section>
  ));
}

interface ConversationHeadingProps {
  /** The newest of its calls on the page. */
  readonly call: AuditedCall;
  readonly view: CallsView;
}

/** By its title, as people know it; by its id where it has none any more. */
function ConversationHeading({ call, view }: ConversationHeadingProps) {
  const { conversationId: id, at, principalName } = call;
  const title = useTitleOf(call);
  return (
    <h2 className={styles.day}>
      <Link href={paths.audit + writeCallsView({ ...view, conversation: id })} title={id}>
        {title ? <CutTitle title={title} /> : <VisibleText text={id} />}
      </Link>{" "}
      {fullDay.format(Date.parse(at))}, {principalName} <Link href={paths.compare(id)}>{t`Compare`}</Link>
    </h2>
  );
}

function Rows({ calls }: { readonly calls: readonly AuditedCall[] }) {
  return (
    <ul className={styles.rows}>
      {calls.map((call) => (
        <li key={call.position}>
          <Link href={paths.auditCall(call.position)} className={styles.row} data-row="">
            <time className={styles.time} dateTime={call.at}>
              {clockTime.format(Date.parse(call.at))}
            </time>
            <span className={classes(styles.outcome, styles[endingOf(call.outcome)])}>{endOf(call)}</span>
            <span className={styles.tool}>
              {call.tool === undefined ? noTool(call.outcome) : <VisibleText text={call.tool} fold={false} />}
            </span>
            <span className={styles.who}>
              <VisibleText text={call.principalName} prose fold={false} />
            </span>
            <span className={styles.why}>{why(call)}</span>
            <span className={styles.model}>
              {call.modelId === undefined ? t`no model` : <ModelName id={call.modelId} />}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Why it came to run or not, in a few words. */
function why(call: AuditedCall): string {
  const decision = decisionOf(call);
  const by = call.answer === "approved" || call.answer === "denied" ? call.approverName : undefined;
  const reason = call.outcome === "ok" ? undefined : reasonOf(call);
  const words = [by === undefined ? decision : `${decision} (${by})`, reason].filter(Boolean).join(", ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A model behind a URL goes by its name there; the rest is on the call's page. */
const REMOTE = /^remote:[^:]+(?::\d+)?:(.+)$/;

/** The name of local weights begins with their digest, of which nobody reads more than the beginning. */
function ModelName({ id }: { readonly id: string }) {
  const name = REMOTE.exec(id)?.[1] ?? id;
  return (
    <>
      <VisibleText text={name.slice(0, 28)} fold={false} />
      {name.length > 28 && "…"}
    </>
  );
}

/** Goes up and down the rows with the arrow keys, to the first and the last with Home and End. */
function goOn(event: KeyboardEvent, list: HTMLElement | null): void {
  const rows = [...(list?.querySelectorAll<HTMLElement>(`[${ROW}]`) ?? [])];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  rows[Math.min(Math.max(to, 0), rows.length - 1)]?.focus();
}

function groupBy(
  calls: readonly AuditedCall[],
  key: (call: AuditedCall) => string,
): (readonly [string, readonly AuditedCall[]])[] {
  const groups = new Map<string, AuditedCall[]>();
  for (const call of calls) {
    const group = groups.get(key(call));
    if (group === undefined) groups.set(key(call), [call]);
    else group.push(call);
  }
  return [...groups];
}
