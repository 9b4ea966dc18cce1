import { useEffect, useRef, useState } from "react";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { mediumDay } from "../../../ui/moments.ts";
import { Spinner } from "../../../ui/Spinner.tsx";
import type { Workspace } from "../workspace.ts";
import styles from "./ImportDialog.module.css";
import { type FoundConversation, type FoundConversations, readConversations, UnreadableExport } from "./read-export.ts";
import { sendImports } from "./send-imports.ts";

/** So many are taken over at once. */
const MOST_AT_ONCE = 100;

const SOURCES = {
  countersign: "Countersign",
  chatgpt: "ChatGPT",
  claude: "Claude",
  openWebUi: "Open WebUI",
} as const;

interface ImportDialogProps {
  readonly workspace: Workspace;
  readonly file: File;
  readonly onClose: () => void;
  readonly onImported: () => void;
}

/** What a file holds of conversations, and which of them are to be taken over. */
export function ImportDialog({ workspace, file, onClose, onImported }: ImportDialogProps) {
  const [read, setRead] = useState<FoundConversations | string | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [taken, setTaken] = useState<number | null>(null);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const stop = useRef(new AbortController());
  useEffect(() => {
    let isCurrent = true;
    describe(file).then((described) => {
      if (!isCurrent) return;
      setRead(described);
      if (typeof described !== "string") setChosen(new Set(described.found.slice(0, MOST_AT_ONCE).keys()));
    });
    return () => {
      isCurrent = false;
    };
  }, [file]);
  useEffect(() => {
    const { current } = stop;
    return () => current.abort();
  }, []);
  const found = typeof read === "string" || read === null ? [] : read.found;
  const wanted = found.filter((_, place) => chosen.has(place));
  const isTooMany = wanted.length > MOST_AT_ONCE;
  const take = async () => {
    if (taken !== null || wanted.length === 0 || isTooMany) return;
    setTaken(0);
    const bodies = wanted.map(({ body }) => body);
    const imported = await sendImports(workspace.environment, bodies, stop.current.signal, setTaken);
    await workspace.library.show(imported.taken);
    setTaken(null);
    setChosen(new Set());
    setProblems(imported.problems);
    if (imported.problems.length > 0) return;
    onClose();
    onImported();
  };
  return (
    <Dialog
      open
      title={t`Import conversations`}
      onClose={onClose}
      cancelLabel={problems.length > 0 ? t`Close` : t`Cancel`}
      actions={
        found.length > 0 && (
          <Button
            variant="primary"
            aria-disabled={taken !== null || wanted.length === 0 || isTooMany || undefined}
            onClick={() => void take()}
          >
            {t`Import ${wanted.length} {conversation|conversations}`}
          </Button>
        )
      }
    >
      <div className={styles.found}>
        {read === null && <Spinner label={t`Reading ${file.name}`} />}
        {typeof read === "string" && <Banner tone="danger">{read}</Banner>}
        {problems.length > 0 && <Banner tone="danger">{t`Not imported. ${problems.join(" ")}`}</Banner>}
        {found.length > 0 && (
          <>
            <p>
              {t`What you import is treated like a file from outside: nothing in it counts as done here, and its words are not trusted.`}
            </p>
            <ul className={styles.rows} aria-label={t`Conversations in the file`}>
              {found.map((each, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: what a file holds does not change
                <li key={place}>
                  <label className={styles.row}>
                    <input
                      type="checkbox"
                      checked={chosen.has(place)}
                      onChange={() => setChosen(toggled(chosen, place))}
                    />
                    <span className={styles.words}>
                      <span dir="auto">{each.body.title || t`Untitled`}</span>
                      <span className={styles.note}>{describeFound(each)}</span>
                    </span>
                  </label>
                </li>
              ))}
            </ul>
            {typeof read !== "string" && read !== null && <LeftOut read={read} />}
            {isTooMany && <p>{t`At most ${MOST_AT_ONCE} are imported at once.`}</p>}
            {taken !== null && <Spinner label={t`${taken} of ${wanted.length} imported`} />}
          </>
        )}
      </div>
    </Dialog>
  );
}

function LeftOut({ read: { empty, beyond, found } }: { readonly read: FoundConversations }) {
  const words = [
    ...(empty > 0 ? [t`${empty} without words are left out.`] : []),
    ...(beyond > 0 ? [t`Only the newest ${found.length} are listed; ${beyond} older ones are left out.`] : []),
  ];
  return words.length === 0 ? null : <p className={styles.note}>{words.join(" ")}</p>;
}

async function describe(file: File): Promise<FoundConversations | string> {
  try {
    return await readConversations(file);
  } catch (error) {
    return error instanceof UnreadableExport ? error.message : t`This file could not be read.`;
  }
}

/** Where it is from, when it was held, how long it is, and what does not come along. */
function describeFound({ body, begunAt, usedAt, leftOut, cut }: FoundConversation): string {
  const { length } = body.messages;
  return [
    SOURCES[body.source],
    begunAt === null || usedAt === null ? t`no date` : mediumDay.formatRange(Date.parse(begunAt), Date.parse(usedAt)),
    t`${length} {message|messages}`,
    ...(leftOut > 0 ? [t`${leftOut} {file or call|files or calls} left out`] : []),
    ...(cut > 0 ? [t`${cut} oldest left out`] : []),
  ].join(" · ");
}

function toggled(places: ReadonlySet<number>, place: number): ReadonlySet<number> {
  const changed = new Set(places);
  if (!changed.delete(place)) changed.add(place);
  return changed;
}
