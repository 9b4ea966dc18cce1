import { type KeyboardEvent, lazy, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { t } from "../../language/t.ts";
import type { ModelInfo, ToolDescriptor } from "../../protocol/generated.ts";
import { Button } from "../../ui/Button.tsx";
import { AttachButton, useDroppedFiles } from "./AttachButton.tsx";
import { CompletionMenu, optionId } from "./CompletionMenu.tsx";
import styles from "./Composer.module.css";
import type { Suggestion } from "./completion.ts";
import { Later } from "./Later.tsx";
import { PendingFilesRow } from "./PendingFilesRow.tsx";
import { isSendKey } from "./settings.ts";
import { useCompletion } from "./use-completion.ts";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceState } from "./workspace-state.ts";

const CallForm = lazy(async () => ({ default: (await import("./CallForm.tsx")).CallForm }));

const MAX_ROWS = 8;
const NO_MODELS: readonly ModelInfo[] = [];

/** Where a message is written. Enter sends if the person has not set it otherwise; while an answer is under way it puts in line. */
export function Composer({ workspace, state }: { readonly workspace: Workspace; readonly state: WorkspaceState }) {
  const { drafts } = workspace.environment;
  const { currentId, busy, offered } = state;
  const [text, setText] = useState(() => drafts.read(currentId));
  const [sending, setSending] = useState(false);
  const [caret, setCaret] = useState(text.length);
  const [filledIn, setFilledIn] = useState<ToolDescriptor | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const menuId = useId();
  const { label, suggestions, chosen, active, move, dismiss } = useCompletion(
    workspace.lookups,
    state.session?.models ?? NO_MODELS,
    currentId,
    text,
    caret,
  );

  useDroppedFiles((files) => void workspace.attach(files));

  // What is put in by choosing it ends where the person types on.
  const wantedCaret = useRef<number | null>(null);
  useLayoutEffect(() => {
    const place = wantedCaret.current;
    if (place === null) return;
    wantedCaret.current = null;
    field.current?.setSelectionRange(place, place);
  });

  useEffect(() => {
    // On a phone, focus would bring the keyboard up over the page.
    if (window.matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, []);

  /** The conversation from which a message is being sent; null for a new one. */
  const sendingFrom = useRef<{ readonly id: string | null }>(undefined);
  /** What was written there since. */
  const writtenSince = useRef("");
  const isAskedAgain = useRef(false);
  useEffect(() => {
    // A first message creates its conversation while it is being sent; that is no reason to take it out of the box.
    if (sendingFrom.current?.id !== null) setText(drafts.read(currentId));
  }, [drafts, currentId]);

  const taken = useRef(offered);
  useEffect(() => {
    if (offered === null || taken.current === offered) return;
    taken.current = offered;
    setText((written) => {
      const next = written.trim() === "" ? offered.text : `${offered.text}\n${written}`;
      drafts.write(currentId, next);
      if (sendingFrom.current !== undefined) writtenSince.current = next;
      return next;
    });
    field.current?.focus();
  }, [offered, drafts, currentId]);

  const write = (next: string, place: number) => {
    setText(next);
    setCaret(place);
    drafts.write(currentId, next);
    const from = sendingFrom.current;
    if (from?.id === null || from?.id === currentId) writtenSince.current = next;
  };

  const send = async (said: string): Promise<void> => {
    // Who goes on while it is being sent has that sent next.
    isAskedAgain.current = sendingFrom.current !== undefined;
    if (isAskedAgain.current || said.trim() === "") return;
    const from = workspace.getState().currentId;
    sendingFrom.current = { id: from };
    writtenSince.current = "";
    setSending(true);
    setText("");
    const isTaken = await workspace.submit(said);
    sendingFrom.current = undefined;
    setSending(false);
    const rest = [isTaken ? "" : said, writtenSince.current].filter((each) => each !== "").join("\n");
    const now = workspace.getState().currentId;
    drafts.write(from, from === null ? "" : rest);
    // The box belongs to another conversation if one was opened meanwhile.
    if (from !== null && now !== from) return;
    drafts.write(now, rest);
    setText(rest);
    if (isTaken && isAskedAgain.current) await send(rest);
  };

  const take = ({ from, insert, goesOn, tool }: Suggestion) => {
    const next = text.slice(0, from) + insert + text.slice(caret);
    wantedCaret.current = from + insert.length;
    write(next, from + insert.length);
    if (!goesOn) dismiss(next);
    if (tool !== null) setFilledIn(tool);
    field.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (active !== undefined) {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        move(event.key === "ArrowDown" ? 1 : -1);
        return;
      }
      // A word that is complete is sent, not completed.
      const isThere = text.slice(active.from, caret) === active.insert.trimEnd() && active.tool === null;
      if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && !isThere)) {
        event.preventDefault();
        take(active);
        return;
      }
      if (event.key === "Escape") {
        event.preventDefault();
        dismiss(text);
        return;
      }
    }
    if (isSendKey(event, state.settings.sendKey)) {
      event.preventDefault();
      void send(text);
    }
  };

  return (
    <>
      <form
        className={styles.composer}
        data-pane="composer"
        onSubmit={(event) => {
          event.preventDefault();
          void send(text);
        }}
      >
        {suggestions.length > 0 && (
          <CompletionMenu id={menuId} label={label} suggestions={suggestions} chosen={chosen} onTake={take} />
        )}
        <PendingFilesRow files={state.files} onRemove={(place) => workspace.removeFile(place)} />
        <div className={styles.row}>
          <AttachButton
            onFiles={(files) => {
              field.current?.focus();
              void workspace.attach(files);
            }}
          />
          <textarea
            ref={field}
            className={styles.field}
            aria-label={t`Message`}
            placeholder={t`Ask, or type / or @`}
            rows={Math.min(MAX_ROWS, text.split("\n").length)}
            value={text}
            data-pane-focus
            aria-haspopup="listbox"
            aria-controls={suggestions.length > 0 ? menuId : undefined}
            aria-activedescendant={active && optionId(menuId, chosen)}
            aria-autocomplete="list"
            enterKeyHint="send"
            onChange={({ currentTarget }) => write(currentTarget.value, currentTarget.selectionStart)}
            onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
            onKeyDown={onKeyDown}
            onPaste={(event) => {
              const files = [...event.clipboardData.files];
              if (files.length === 0) return;
              event.preventDefault();
              void workspace.attach(files);
            }}
          />
          {busy ? (
            <>
              {text.trim() !== "" && (
                <Button type="submit" busy={sending}>
                  {t`Add to line`}
                </Button>
              )}
              <Button key="stop" variant="danger" onClick={() => void workspace.stopTurn()}>
                {t`Stop`}
              </Button>
            </>
          ) : (
            <Button
              key="send"
              type="submit"
              variant="primary"
              busy={sending}
              aria-disabled={text.trim() === "" || undefined}
            >
              {t`Send`}
            </Button>
          )}
        </div>
      </form>
      {filledIn !== null && (
        <Later state={state}>
          <CallForm
            tool={filledIn}
            title={t`Call ${filledIn.name}`}
            action={t`Call`}
            given={{}}
            onClose={() => setFilledIn(null)}
            onCall={(given) => {
              setFilledIn(null);
              setText("");
              drafts.write(currentId, "");
              void workspace.submit(`/call ${filledIn.name} ${JSON.stringify(given)}`);
            }}
          />
        </Later>
      )}
    </>
  );
}
