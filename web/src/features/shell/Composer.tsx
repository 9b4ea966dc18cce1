import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { type CommandInfo, suggestCommands } from "../../agent/slash.ts";
import { Button } from "../../ui/Button.tsx";
import styles from "./Composer.module.css";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceState } from "./workspace-state.ts";

const MAX_ROWS = 8;

/** Where a message is written. Enter sends if the person has not set it otherwise; while an answer is under way it puts in line. */
export function Composer({ workspace, state }: { readonly workspace: Workspace; readonly state: WorkspaceState }) {
  const { drafts } = workspace.environment;
  const { currentId, busy, offered } = state;
  const [text, setText] = useState(() => drafts.read(currentId));
  const [sending, setSending] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [dismissed, setDismissed] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const menuId = useId();
  const suggestions = dismissed ? [] : suggestCommands(text);

  useEffect(() => {
    // On a phone, focus would bring the keyboard up over the page.
    if (window.matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, []);

  const underWay = useRef(false);
  useEffect(() => {
    // A first message creates its conversation while it is being sent; that is no reason to take it out of the box.
    if (!underWay.current) setText(drafts.read(currentId));
  }, [drafts, currentId]);

  const taken = useRef(offered);
  useEffect(() => {
    if (offered === null || taken.current === offered) return;
    taken.current = offered;
    setText((written) => {
      const next = written.trim() === "" ? offered.text : `${offered.text}\n${written}`;
      drafts.write(currentId, next);
      return next;
    });
    field.current?.focus();
  }, [offered, drafts, currentId]);

  const write = (next: string) => {
    setText(next);
    setChosen(0);
    setDismissed(false);
    drafts.write(currentId, next);
  };

  const send = async () => {
    if (sending || text.trim() === "") return;
    setSending(true);
    underWay.current = true;
    const isTaken = await workspace.submit(text);
    underWay.current = false;
    setSending(false);
    drafts.write(currentId, "");
    if (isTaken) setText("");
    else drafts.write(workspace.getState().currentId, text);
  };

  const complete = ({ word }: CommandInfo) => {
    const takesMore = word === "inspect" || word === "call";
    write(`/${word}${takesMore ? " " : ""}`);
    setDismissed(true);
    field.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    const active = suggestions[chosen];
    if (active !== undefined) {
      const count = suggestions.length;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        setChosen((chosen + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
        return;
      }
      if (event.key === "Tab" || (event.key === "Enter" && text !== `/${active.word}`)) {
        event.preventDefault();
        complete(active);
        return;
      }
      if (event.key === "Escape") {
        setDismissed(true);
        return;
      }
    }
    const sends = state.settings.sendKey === "enter" ? !event.shiftKey : event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && sends) {
      event.preventDefault();
      void send();
    }
  };

  const activeId = suggestions[chosen] && `${menuId}-${suggestions[chosen].word}`;
  return (
    <form
      className={styles.composer}
      data-pane="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {suggestions.length > 0 && (
        <div id={menuId} className={styles.menu} role="listbox" aria-label="Commands">
          {suggestions.map((command, index) => (
            <div
              key={command.word}
              id={`${menuId}-${command.word}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              className={styles.option}
              onPointerDown={(event) => {
                event.preventDefault();
                complete(command);
              }}
            >
              <code>{command.usage}</code>
              <span className={styles.what}>{command.what}</span>
            </div>
          ))}
        </div>
      )}
      <div className={styles.row}>
        <textarea
          ref={field}
          className={styles.field}
          aria-label="Message"
          placeholder="Ask, or type / for commands"
          rows={Math.min(MAX_ROWS, text.split("\n").length)}
          value={text}
          data-pane-focus
          aria-haspopup="listbox"
          aria-controls={suggestions.length > 0 ? menuId : undefined}
          aria-activedescendant={activeId}
          aria-autocomplete="list"
          enterKeyHint="send"
          onChange={(event) => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {busy ? (
          <>
            {text.trim() !== "" && (
              <Button type="submit" busy={sending}>
                Add to line
              </Button>
            )}
            <Button key="stop" variant="danger" onClick={() => void workspace.stopTurn()}>
              Stop
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
            Send
          </Button>
        )}
      </div>
    </form>
  );
}
