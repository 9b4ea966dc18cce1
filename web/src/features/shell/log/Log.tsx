import { type KeyboardEvent, memo, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { ATTACHER } from "../../../agent/attached.ts";
import type { CallCard, Conversation, Course, Entry } from "../../../agent/conversation.ts";
import { waitingCalls } from "../../../agent/conversation.ts";
import { t } from "../../../language/t.ts";
import type { ToolCall } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { ErrorBoundary } from "../../../ui/ErrorBoundary.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import type { BranchPoint } from "../branches.ts";
import type { SoughtPlace } from "../message-search.ts";
import type { SendKey } from "../settings.ts";
import type { AnswerFigures } from "../turn-figures.ts";
import { AnswerActions, QuestionActions, type UserEntry } from "./EntryActions.tsx";
import { FoundBar } from "./FoundBar.tsx";
import { goingOn } from "./going-on.ts";
import { isHeld } from "./held-calls.ts";
import styles from "./Log.module.css";
import { Markdown } from "./Markdown.tsx";
import { ownCallAt, shownQuestion } from "./own-turns.ts";
import { shownText } from "./own-words.ts";
import { PanelView } from "./Panels.tsx";
import { QuestionText } from "./QuestionText.tsx";
import { ToolCallView } from "./ToolCallView.tsx";
import { useDrawn, useKeptPlace } from "./use-drawn.ts";
import { useFound, useMarkedWords } from "./use-found.ts";

/** What can be done with what was said. */
export interface LogActions {
  /** Ask again from a turn on, in a branch. */
  readonly onAskAgain: (turnId: string, text: string) => void;
  readonly branchesAt: (turnId: string) => BranchPoint | null;
  readonly onOpenBranch: (id: string) => void;
  /** Show the branches that begin at a turn beside each other. */
  readonly onCompare: (turnId: string) => void;
  /** Have a call asked for once more, as the person's own. */
  readonly onCallAgain: (call: ToolCall) => void;
  /** Send something as the next message. */
  readonly onSend: (text: string) => void;
}

export interface LogProps extends LogActions {
  readonly view: Conversation;
  /** The message to be shown, where one was looked for. */
  readonly place?: SoughtPlace | null;
  /** What answers took, by turn. */
  readonly figures: ReadonlyMap<string, AnswerFigures>;
  /** A turn is under way, so nothing is asked again. */
  readonly busy: boolean;
  readonly sendKey: SendKey;
  /** What the whole is called: the conversation's title. */
  readonly label: string;
  readonly onCancelCall: (callId: string) => void;
  /** Does something when the page has nothing better to do. */
  readonly whenIdle: (work: () => void) => void;
}

/** A reader nearer to the end than this, in pixels, sees what is new without scrolling. */
const FOLLOW_DISTANCE = 80;

/** The conversation, oldest on top. It follows what is new as long as the reader is at its end, and never otherwise. */
export function Log(props: LogProps) {
  const { view, label, place = null, whenIdle } = props;
  const [isAway, setAway] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const follow = useCallback(() => {
    const element = scroller.current;
    if (element !== null && follows.current && !isTypedIn(element)) element.scrollTop = element.scrollHeight;
  }, []);
  const found = useFound(view.entries, place);
  const { wasStepped } = found;
  const sought = found.sought?.key;
  const needed = found.sought === undefined ? -1 : view.entries.indexOf(found.sought);
  const { undrawn, rest, drawMore, drawMoreBelow, drawEnd, drawAll } = useDrawn(view.entries.length, needed, whenIdle);
  useKeptPlace(scroller, column, undrawn > 0);
  useMarkedWords(column, found.words);
  const asked = view.entries.findLast((entry) => entry.kind === "user")?.key;
  const askedBefore = useRef(asked);
  useLayoutEffect(() => {
    // Whoever sends a message wants to see what comes of it, however far up they read.
    if (askedBefore.current !== undefined && asked !== askedBefore.current) {
      follows.current = true;
      setAway(false);
      drawEnd();
    }
    askedBefore.current = asked;
  }, [asked, drawEnd]);
  useLayoutEffect(() => {
    if (sought === undefined) return;
    follows.current = false;
    const entry = scroller.current?.querySelector<HTMLElement>(`[data-entry="${sought}"]`);
    entry?.scrollIntoView?.({ block: "center" });
    if (!wasStepped) entry?.focus({ preventScroll: true });
  }, [sought, wasStepped]);
  useLayoutEffect(follow);
  useEffect(() => {
    // A keyboard that comes up, a longer draft or a phone that is turned takes room away without anything new to show.
    const observer = new ResizeObserver(follow);
    if (scroller.current !== null) observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [follow]);
  const onScroll = () => {
    const element = scroller.current;
    if (element === null) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    follows.current = rest === 0 && below < FOLLOW_DISTANCE;
    setAway(!follows.current);
    if (rest > 0 && below < element.clientHeight) drawMoreBelow();
    if (undrawn > 0 && element.scrollTop < element.clientHeight) drawMore();
  };
  const toLatest = () => {
    follows.current = true;
    setAway(false);
    drawEnd();
    follow();
    scroller.current?.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (undrawn > 0 && event.key === "Home") drawAll();
    if (rest > 0 && event.key === "End") toLatest();
  };
  return (
    <div className={styles.frame}>
      <FoundBar found={found} />
      <div
        ref={scroller}
        className={styles.scroller}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
        data-undrawn={undrawn + rest > 0 ? undrawn + rest : undefined}
        role="log"
        aria-live="off"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        data-pane="log"
      >
        <div ref={column} className={styles.column}>
          {view.entries.slice(undrawn, view.entries.length - rest).map((entry, index) => (
            <LogEntry key={entry.key} {...props} index={undrawn + index} isSought={entry.key === sought} />
          ))}
          {rest === 0 && <LogEnd view={view} />}
        </div>
      </div>
      {isAway && (
        <div className={styles.latest}>
          <Button size="small" onClick={toLatest}>
            <span aria-hidden="true">↓</span> {t`Jump to latest`}
          </Button>
        </div>
      )}
    </div>
  );
}

interface PlacedEntry extends LogProps {
  readonly index: number;
  readonly isSought: boolean;
}

/** The entry at a place. What is drawn stays as it is while older ones are drawn above it. */
const LogEntry = memo(({ isSought, ...props }: PlacedEntry) => {
  const { view, index, sendKey, onCancelCall } = props;
  const entry = view.entries[index];
  if (entry === undefined) return null;
  return (
    <>
      <ErrorBoundary what={t`This entry`}>
        <EntryView {...{ entry, view, index, isSought, sendKey, onCancelCall }} />
      </ErrorBoundary>
      <ActionsAfter {...props} />
    </>
  );
});
LogEntry.displayName = "LogEntry";

/** What can be done with the entry at a place: below it, for what is said is read without its buttons. */
function ActionsAfter({ index, ...props }: LogProps & { readonly index: number }) {
  const { entries } = props.view;
  const entry = entries[index];
  const isOwnCall = ownCallAt(props.view, entry?.kind === "user" ? index : index - 1) !== undefined;
  // The page said it for the person, and the file stands below.
  if (entry?.kind === "user" && ownCallAt(props.view, index)?.name === ATTACHER) return null;
  if (entry?.kind === "user") return <QuestionActions {...{ ...props, entry, isOwnCall }} />;
  const card = entry?.kind === "call" ? props.view.calls[entry.callId] : undefined;
  const mayAsk = card?.result?.reason === "approvalExpired" && !props.busy && !isMadeAgain(props.view, index);
  const expired = mayAsk ? card.call : undefined;
  // What a command shows belongs to no turn: the answer before it is still the last one.
  if (entry?.kind === "panel") return null;
  let following = index + 1;
  while (entries[following]?.kind === "panel") following++;
  const next = entries[following];
  const isLast = next === undefined || isQuestion(next);
  const text = entry?.kind === "assistant" ? shownText(entry) : null;
  const question = isLast && !props.busy && !isOwnCall ? questionBefore(entries, index) : undefined;
  // What brought a file is attached again where files are attached, and what was not decided is asked for again.
  const isRepeatable =
    isOwnCall && !props.busy && !isBringer(card) && card?.result !== undefined && expired === undefined;
  const own = isRepeatable ? card?.call : undefined;
  if (text === null && question === undefined && expired === undefined && own === undefined) return null;
  const figures = question && props.figures.get(question.turnId);
  const further = next === undefined && !props.busy ? goingOn(entries.slice(0, index + 1)) : null;
  return <AnswerActions {...{ ...props, text, question, expired, own, figures, further }} />;
}

/** Whether the call at a place was made once more later on, with the same arguments. */
function isMadeAgain({ entries, calls }: Conversation, index: number): boolean {
  const callAt = (entry: Entry | undefined) => (entry?.kind === "call" ? calls[entry.callId]?.call : undefined);
  const made = callAt(entries[index]);
  return entries.slice(index + 1).some((entry) => {
    const later = callAt(entry);
    return later?.name === made?.name && JSON.stringify(later?.arguments) === JSON.stringify(made?.arguments);
  });
}

/** Whether a call took in a file that the person attached. */
function isBringer(card: CallCard | undefined): boolean {
  return card?.call.name === ATTACHER;
}

/** What a turn was asked, with what the person added while it went on. */
function questionBefore(entries: readonly Entry[], index: number): UserEntry | undefined {
  let begun = index - 1;
  while (begun >= 0 && !isQuestion(entries[begun])) begun--;
  const said = entries.slice(begun, index).filter((each) => each.kind === "user");
  return begun < 0 || said[0] === undefined
    ? undefined
    : { ...said[0], text: said.map(({ text }) => text).join("\n\n") };
}

function isQuestion(entry: Entry | undefined): boolean {
  return entry?.kind === "user" && !entry.steered;
}

/** Whether somebody types in the log, as in the search of a list: what is typed in must stay where it is. */
function isTypedIn(log: HTMLElement): boolean {
  return document.activeElement instanceof HTMLInputElement && log.contains(document.activeElement);
}

const IMPORTED = t`Imported, not in this record`;

interface EntryProps {
  readonly entry: Entry;
  readonly view: Conversation;
  readonly index: number;
  readonly isSought: boolean;
  readonly sendKey: SendKey;
  readonly onCancelCall: (callId: string) => void;
}

function EntryView({ entry, view, index, isSought, sendKey, onCancelCall }: EntryProps) {
  const place = { "data-entry": entry.key, "data-sought": isSought || undefined, tabIndex: isSought ? -1 : undefined };
  switch (entry.kind) {
    case "user":
      return (
        <article {...place} className={styles.user} aria-label={entry.steered ? t`You, in between` : t`You`}>
          {entry.steered && <p className={styles.note}>{t`Said while it worked`}</p>}
          {entry.imported && <p className={styles.note}>{IMPORTED}</p>}
          <QuestionText text={shownQuestion(entry, ownCallAt(view, index))} isSought={isSought} />
        </article>
      );
    case "assistant":
      return (
        <article {...place} className={styles.answer} aria-label={t`Assistant`}>
          {entry.imported && <p className={styles.note}>{IMPORTED}</p>}
          <Markdown text={shownText(entry)} />
          {entry.stopped && <p className={styles.note}>{t`Stopped here.`}</p>}
        </article>
      );
    case "call": {
      const card = view.calls[entry.callId];
      const waiting = waitingCalls(view);
      return card === undefined ? null : (
        <ToolCallView
          card={card}
          amongSeveral={waiting.length > 1}
          behindAnother={waiting.findIndex(({ call }) => call.id === entry.callId) > 0}
          held={isHeld(view, card)}
          own={ownCallAt(view, index - 1)?.id === card.call.id && card.call.name !== ATTACHER}
          onCancel={onCancelCall}
        />
      );
    }
    case "panel":
      return <PanelView panel={entry.panel} sendKey={sendKey} />;
    case "notice":
      return (
        <Banner tone={entry.tone}>
          <Markdown text={shownText(entry)} {...(shownText(entry) === entry.text && { lang: "en" as const })} />
        </Banner>
      );
  }
}

/** After this long, in milliseconds, somebody wonders whether anything happens. A model that is being loaded says so itself. */
const SLOW_MS = 5_000;

function Thinking({ words }: { readonly words: string }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className={styles.thinking}>
      <Spinner /> {words}
      {slow && t`. No word of an answer has come yet.`}
    </p>
  );
}

const DONE = { mark: "✓", word: t` (done)` };
const UNDONE = { mark: "✕", word: t` (not done)` };
const NOW = { mark: "▸", word: "" };
const NEXT = { mark: "·", word: "" };

/** The steps of a message: which are done, which one runs, which are left. */
function StepList({ course: { actions, index, undone } }: { readonly course: Course }) {
  if (actions === null) return <p className={styles.note}>{t`Step ${index + 1}`}</p>;
  return (
    <ol className={styles.course} aria-label={t`Steps of this message`}>
      {actions.map((action, place) => {
        const { mark, word } = place < index ? (undone.includes(place) ? UNDONE : DONE) : place === index ? NOW : NEXT;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes while it is shown, and may say one thing twice
          <li key={place} className={styles.step} {...(place === index && { "aria-current": "step" as const })}>
            <span className={styles.mark} aria-hidden="true">
              {mark}
            </span>
            <span className={styles.asked} dir="auto">
              {action}
            </span>
            <span className="visually-hidden">{word}</span>
          </li>
        );
      })}
    </ol>
  );
}

function LogEnd({ view }: { readonly view: Conversation }) {
  return (
    <>
      {view.course !== null && <StepList course={view.course} />}
      <Activity view={view} />
    </>
  );
}

/** What happens now, at the end of the log. It keeps its height, so that nothing jumps when text begins to stream. */
function Activity({ view }: { readonly view: Conversation }) {
  const { activity, streaming } = view;
  if (streaming !== "")
    return (
      <article className={styles.answer} aria-label={t`Assistant`} aria-busy="true">
        <Markdown text={streaming} />
      </article>
    );
  if (activity.kind === "modelAwaited") return <Thinking words={t`Waiting for the model`} />;
  return activity.kind === "thinking" ? <Thinking words={t`Thinking`} /> : null;
}
