import { useEffect, useRef, useState } from "react";
import type { Entry } from "../../../agent/conversation.ts";
import { language } from "../../../language/language.ts";
import { t } from "../../../language/t.ts";
import type { ToolCall } from "../../../protocol/generated.ts";
import { Button } from "../../../ui/Button.tsx";
import { CopyButton } from "../../../ui/CopyButton.tsx";
import type { BranchPoint } from "../branches.ts";
import type { SendKey } from "../settings.ts";
import type { AnswerFigures } from "../turn-figures.ts";
import styles from "./EntryActions.module.css";
import { QuestionEditor } from "./QuestionEditor.tsx";

export type UserEntry = Extract<Entry, { readonly kind: "user" }>;

interface QuestionActionsProps {
  readonly entry: UserEntry;
  readonly busy: boolean;
  readonly sendKey: SendKey;
  /** The person made the call of this turn, and no model was asked anything: the words are no question that could be put better. */
  readonly isOwnCall: boolean;
  readonly onAskAgain: (turnId: string, text: string) => void;
  readonly branchesAt: (turnId: string) => BranchPoint | null;
  readonly onOpenBranch: (id: string) => void;
  readonly onCompare: (turnId: string) => void;
}

/** Under what a person wrote: the branches that begin there, copy, and edit, which asks again in a branch. */
export function QuestionActions(props: QuestionActionsProps) {
  const { entry, busy, sendKey, isOwnCall, onAskAgain, branchesAt, onOpenBranch, onCompare } = props;
  const [editing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    // The field takes the keyboard with it when it goes.
    if (wasEditing.current && !editing) edit.current?.focus();
    wasEditing.current = editing;
  }, [editing]);
  // A turn is asked again from its beginning, not from what was added to it.
  const branches = entry.steered ? null : branchesAt(entry.turnId);
  if (editing)
    return (
      <QuestionEditor
        text={entry.text}
        sendKey={sendKey}
        busy={busy}
        onCancel={() => setEditing(false)}
        onAsk={(text) => {
          setEditing(false);
          onAskAgain(entry.turnId, text);
        }}
      />
    );
  return (
    <div className={styles.actions} data-side="end">
      {branches !== null && <BranchSwitch branches={branches} onOpenBranch={onOpenBranch} />}
      {branches !== null && (
        <Button size="small" variant="quiet" onClick={() => onCompare(entry.turnId)}>
          {t`Compare`}
        </Button>
      )}
      <CopyButton text={entry.text} what={t`question`} />
      {!busy && !entry.steered && !isOwnCall && (
        <Button ref={edit} size="small" variant="quiet" onClick={() => setEditing(true)}>
          {t`Edit`}
        </Button>
      )}
    </div>
  );
}

interface BranchSwitchProps {
  readonly branches: BranchPoint;
  readonly onOpenBranch: (id: string) => void;
}

function BranchSwitch({ branches: { ids, index }, onOpenBranch }: BranchSwitchProps) {
  const button = (to: number, sign: string, name: string) => (
    <Button
      size="small"
      variant="quiet"
      aria-label={name}
      aria-disabled={ids[to] === undefined || undefined}
      onClick={() => ids[to] !== undefined && onOpenBranch(ids[to])}
    >
      <span aria-hidden="true">{sign}</span>
    </Button>
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
    <span className={styles.branches} role="group" aria-label={t`Branches`}>
      {button(index - 1, "‹", t`Branch before`)}
      <span className={styles.place}>
        <span className="visually-hidden">{t`Branch`} </span>
        {index + 1} / {ids.length}
      </span>
      {button(index + 1, "›", t`Branch after`)}
    </span>
  );
}

interface AnswerActionsProps {
  /** The words of the answer, null where there are none. */
  readonly text: string | null;
  /** What the turn began with, if it can be asked again from here. */
  readonly question: UserEntry | undefined;
  readonly onAskAgain: (turnId: string, text: string) => void;
  /** A call that nobody decided about in time. */
  readonly expired: ToolCall | undefined;
  /** A call that the person made, and may make once more. */
  readonly own: ToolCall | undefined;
  readonly onCallAgain: (call: ToolCall) => void;
  /** What to send so that an answer goes on that ended before it was done. */
  readonly further: string | null;
  readonly onSend: (text: string) => void;
  /** What the turn took, if this browser has seen it. */
  readonly figures: AnswerFigures | undefined;
}

/** Under what a turn came to. */
export function AnswerActions(props: AnswerActionsProps) {
  const { text, question, onAskAgain, expired, own, onCallAgain, further, onSend, figures } = props;
  return (
    <div className={styles.actions}>
      {further !== null && (
        <Button size="small" onClick={() => onSend(further)}>
          {t`Go on`}
        </Button>
      )}
      {expired !== undefined && (
        <Button size="small" variant="quiet" onClick={() => onCallAgain(expired)}>
          {t`Ask me again`}
        </Button>
      )}
      {own !== undefined && (
        <Button size="small" variant="quiet" onClick={() => onCallAgain(own)}>
          {t`Call again`}
        </Button>
      )}
      {text !== null && <CopyButton text={text} what={t`answer`} />}
      {question !== undefined && (
        <Button size="small" variant="quiet" onClick={() => onAskAgain(question.turnId, question.text)}>
          {t`Try again in a branch`}
        </Button>
      )}
      {figures !== undefined && figures.tokens > 0 && <span className={styles.place}>{describe(figures)}</span>}
    </div>
  );
}

const few = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
const rough = new Intl.NumberFormat(language, { maximumSignificantDigits: 2 });

/** Fewer tokens than this say nothing of how fast a model writes. */
const TIMED_TOKENS = 5;

function describe({ tokens, seconds, firstSeconds }: AnswerFigures): string {
  return [
    t`${tokens} {token|tokens}`,
    ...(seconds > 0 && tokens >= TIMED_TOKENS ? [t`${rough.format(tokens / seconds)} tokens/s`] : []),
    ...(firstSeconds === null ? [] : [describeWait(firstSeconds)]),
  ].join(" · ");
}

function describeWait(seconds: number): string {
  return seconds < 0.05 ? t`first words after less than ${0.1} s` : t`first words after ${few.format(seconds)} s`;
}
