import { useEffect, useState } from "react";
import { t } from "../../../language/t.ts";
import { Dialog } from "../../../ui/Dialog.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { Arguments } from "../Arguments.tsx";
import type { BranchPoint } from "../branches.ts";
import { stateOf } from "../log/call-labels.ts";
import { Markdown } from "../log/Markdown.tsx";
import type { Workspace } from "../workspace.ts";
import styles from "./BranchComparison.module.css";
import { type ComparedPart, type ComparedTurn, compareBranches, countDifferences } from "./compare-branches.ts";

interface ComparisonProps {
  readonly workspace: Workspace;
  readonly branches: BranchPoint;
  /** The index of the turn at which they fork. */
  readonly place: number;
  readonly onClose: () => void;
}

/** Two branches of a conversation side by side, from where they fork on; below each other where there is no room. */
export function BranchComparison({ workspace, branches: { ids, index }, place, onClose }: ComparisonProps) {
  const [other, setOther] = useState(index === 0 ? 1 : index - 1);
  const [turns, setTurns] = useState<readonly ComparedTurn[] | null>(null);
  const [shown, beside] = [ids[index] ?? "", ids[other] ?? ""];
  useEffect(() => {
    let isWanted = true;
    setTurns(null);
    void workspace.library.read([shown, beside]).then((read) => {
      const [left, right] = read ?? [];
      if (!isWanted) return;
      if (left === undefined || right === undefined) onClose();
      else setTurns(compareBranches(left, right, place));
    });
    return () => {
      isWanted = false;
    };
  }, [workspace, shown, beside, place, onClose]);
  const names = [t`This branch (${index + 1})`, t`Branch ${other + 1}`] as const;
  const count = turns?.reduce((sum, turn) => sum + countDifferences(turn), 0) ?? 0;
  return (
    <Dialog open wide title={t`Compare branches`} cancelLabel={t`Close`} onClose={onClose}>
      {ids.length > 2 && (
        <label className={styles.choice}>
          {t`Compare with`}{" "}
          <select value={other} onChange={(event) => setOther(Number(event.currentTarget.value))}>
            {ids.map((id, at) => at !== index && <option key={id} value={at}>{t`Branch ${at + 1}`}</option>)}
          </select>
        </label>
      )}
      {turns === null ? (
        <Spinner label={t`Reading both branches`} />
      ) : (
        <>
          <p>{count === 0 ? t`Nothing differs.` : t`${count} {part differs|parts differ}.`}</p>
          {turns.map((turn, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: turns keep their places
            <div key={at} className={styles.turn}>
              <Side name={names[0]} number={place + at + 1} parts={turn.left} />
              <Side name={names[1]} number={place + at + 1} parts={turn.right} />
            </div>
          ))}
        </>
      )}
    </Dialog>
  );
}

interface SideProps {
  readonly name: string;
  /** Which turn of the conversation it is, from 1 on. */
  readonly number: number;
  readonly parts: readonly ComparedPart[] | null;
}

function Side({ name, number, parts }: SideProps) {
  return (
    <section className={styles.side} aria-label={t`${name}, turn ${number}`}>
      <h3>{name}</h3>
      {parts === null && <p className={styles.none}>{t`It ends before this turn.`}</p>}
      {parts?.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a turn keep their places
        <Part key={at} part={part} />
      ))}
    </section>
  );
}

function Part({ part }: { readonly part: ComparedPart }) {
  if (part.kind === "call") {
    const { card, difference } = part;
    const state = stateOf(card);
    return (
      <details className={styles.call}>
        <summary>
          <code>{card.call.name}</code> <Tag tone={state.tone}>{state.label}</Tag>{" "}
          {difference === "only" && <Tag tone="accent">{t`Only here`}</Tag>}
          {difference === "result" && <Tag tone="accent">{t`Another result`}</Tag>}
        </summary>
        <Arguments given={card.call.arguments} />
        {card.result !== undefined && card.result.content !== "" && <VisibleText text={card.result.content} />}
      </details>
    );
  }
  return (
    <div className={styles.said}>
      <p className={styles.who}>{part.byPerson ? t`You` : t`Assistant`}</p>
      {part.lines.map(({ text, difference }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines keep their places
        <div key={at} dir="auto" data-difference={difference}>
          {difference === "only" && <span className="visually-hidden">{t`Only here:`} </span>}
          {part.byPerson ? text : <Markdown text={text} />}
        </div>
      ))}
    </div>
  );
}
