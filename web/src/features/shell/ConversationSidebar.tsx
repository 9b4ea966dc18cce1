import { lazy, useEffect, useId, useRef, useState } from "react";
import { t } from "../../language/t.ts";
import { Button } from "../../ui/Button.tsx";
import { Countdown } from "../../ui/Countdown.tsx";
import { useHalfMinute } from "../../ui/clock.ts";
import { shownTitle } from "../../ui/conversation-title.ts";
import { Menu } from "../../ui/Menu.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { Tag } from "../../ui/Tag.tsx";
import { TimeAgo } from "../../ui/TimeAgo.tsx";
import styles from "./ConversationSidebar.module.css";
import { groupConversations, searchConversations } from "./conversation-groups.ts";
import { FileChooser } from "./FileChooser.tsx";
import { Later } from "./Later.tsx";
import { usePins } from "./use-pins.ts";
import type { Workspace } from "./workspace.ts";
import type { ConversationRow, WorkspaceState } from "./workspace-state.ts";

const DeleteDialog = lazy(async () => ({ default: (await import("./ConversationDialogs.tsx")).DeleteDialog }));
const RenameDialog = lazy(async () => ({ default: (await import("./ConversationDialogs.tsx")).RenameDialog }));
const ImportDialog = lazy(async () => ({ default: (await import("./import/ImportDialog.tsx")).ImportDialog }));
const MessageSearchList = lazy(async () => ({ default: (await import("./MessageSearchList.tsx")).MessageSearchList }));

interface ListProps {
  readonly workspace: Workspace;
  readonly state: WorkspaceState;
  /** On a narrow screen the list is a sheet over the page. */
  readonly open: boolean;
  readonly onClose: () => void;
}

/** At the side where there is room, else a sheet that a button opens: the browser's own dialog, so focus is kept in it. */
export function ConversationSidebar({ workspace, state, open, onClose }: ListProps) {
  const pins = usePins(workspace.environment);
  const sheet = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = sheet.current;
    if (element === null) return;
    if (open && !element.open) element.showModal();
    if (!open && element.open) element.close();
  }, [open]);
  return (
    <>
      <nav className={styles.side} aria-label={t`Conversations`} data-pane="list" tabIndex={-1}>
        <Rows workspace={workspace} state={state} pins={pins} onChosen={() => undefined} />
      </nav>
      <dialog ref={sheet} className={styles.sheet} aria-label={t`Conversations`} onClose={onClose}>
        {open && (
          <>
            <div className={styles.close}>
              <Button variant="quiet" size="small" onClick={onClose}>
                {t`Close`}
              </Button>
            </div>
            <Rows workspace={workspace} state={state} pins={pins} onChosen={onClose} />
          </>
        )}
      </dialog>
    </>
  );
}

/** A space in an id would make two names of it. */
function idOf(ids: string, label: string): string {
  return ids + label.replaceAll(" ", "-");
}

/** Only a copy and what was imported begin with turns that are not their own. */
function isImported({ conversation }: ConversationRow): boolean {
  return conversation.parentId === undefined && conversation.inheritedTurns !== undefined;
}

type Pending = { readonly kind: "rename" | "delete"; readonly row: ConversationRow };

interface RowsProps extends Pick<ListProps, "workspace" | "state"> {
  readonly pins: ReturnType<typeof usePins>;
  readonly onChosen: () => void;
}

function Rows({ workspace, state, pins, onChosen }: RowsProps) {
  const [sought, setSought] = useState("");
  const ids = useId();
  const now = useHalfMinute();
  const found = searchConversations(state.list ?? [], sought);
  const [pending, setPending] = useState<Pending | null>(null);
  const [picked, setPicked] = useState<File | null>(null);
  const choose = (id: string | null) => {
    onChosen();
    void workspace.open(id);
  };
  const continueInCopy = (id: string) => {
    onChosen();
    void workspace.library.continueInCopy(id);
  };
  return (
    <div className={styles.list}>
      <Button wide variant={state.currentId === null ? "secondary" : "primary"} onClick={() => choose(null)}>
        {t`New conversation`}
      </Button>
      {state.list === null && <Spinner label={t`Loading`} />}
      {state.list !== null && state.list.length > 0 && (
        <input
          className={styles.search}
          type="search"
          aria-label={t`Search conversations`}
          placeholder={t`Search conversations`}
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
        />
      )}
      {sought.trim() !== "" && found.length === 0 && (
        <p className={styles.none}>
          {state.hasMore ? t`None of the newest has these words.` : t`No title has these words.`}
        </p>
      )}
      {groupConversations(found, pins.pinned, now).map(({ label, rows }) => (
        <div key={label}>
          <p id={idOf(ids, label)} className={styles.group}>
            {label}
          </p>
          <ul className={styles.rows} aria-labelledby={idOf(ids, label)}>
            {rows.map((row) => (
              <li key={row.conversation.id} className={styles.row}>
                <button
                  type="button"
                  className={styles.choose}
                  aria-current={row.conversation.id === state.currentId ? "page" : undefined}
                  onClick={() => choose(row.conversation.id)}
                >
                  <span className={styles.title} dir="auto" title={shownTitle(row.conversation.title) || undefined}>
                    {shownTitle(row.conversation.title) || t`Untitled`}
                  </span>
                  <span className={styles.when}>
                    {/* Both times on one line are too much for the narrow list, and what is left matters more. */}
                    {row.expiresAt === null && <TimeAgo at={row.conversation.updatedAt} />}
                    {row.conversation.parentId !== undefined && <Tag>{t`Branch`}</Tag>}
                    {isImported(row) && <Tag>{t`Imported`}</Tag>}
                    {row.waiting > 0 && <Tag tone="waiting">{t`Waiting`}</Tag>}
                    {row.expiresAt !== null && <Countdown until={row.expiresAt} label="" />}
                    {row.waiting === 0 && row.busy && <Tag tone="info">{t`Running`}</Tag>}
                  </span>
                </button>
                <Menu
                  trigger={<span aria-hidden="true">⋯</span>}
                  label={t`More for ${shownTitle(row.conversation.title) || t`Untitled`}`}
                  items={[
                    { label: t`Rename`, onSelect: () => setPending({ kind: "rename", row }) },
                    {
                      label: pins.pinned.has(row.conversation.id) ? t`Unpin` : t`Pin to the top`,
                      onSelect: () => pins.toggle(row.conversation.id),
                    },
                    { label: t`Continue in a copy`, onSelect: () => continueInCopy(row.conversation.id) },
                    {
                      label: t`Export as JSON`,
                      onSelect: () => void workspace.library.export(row.conversation.id, "json"),
                    },
                    {
                      label: t`Export as Markdown`,
                      onSelect: () => void workspace.library.export(row.conversation.id, "md"),
                    },
                    { label: t`Delete`, danger: true, onSelect: () => setPending({ kind: "delete", row }) },
                  ]}
                />
              </li>
            ))}
          </ul>
        </div>
      ))}
      {sought.trim() !== "" && (
        <Later state={state} fallback={<Spinner label={t`Searching`} />}>
          <MessageSearchList workspace={workspace} sought={sought} onChosen={onChosen} />
        </Later>
      )}
      <FileChooser label={t`Import conversations`} accept=".json" onFiles={([file]) => setPicked(file ?? null)}>
        {t`Import`}
      </FileChooser>
      {state.hasMore && (
        <Button size="small" onClick={() => void workspace.library.loadOlder()}>
          {t`Show older`}
        </Button>
      )}
      {picked !== null && (
        <Later state={state}>
          <ImportDialog workspace={workspace} file={picked} onClose={() => setPicked(null)} onImported={onChosen} />
        </Later>
      )}
      {pending !== null && (
        <Later state={state}>
          {pending.kind === "rename" ? (
            <RenameDialog workspace={workspace} row={pending.row} onClose={() => setPending(null)} />
          ) : (
            <DeleteDialog workspace={workspace} row={pending.row} onClose={() => setPending(null)} />
          )}
        </Later>
      )}
    </div>
  );
}
