import { type ReactNode, useEffect, useRef, useState } from "react";
import { t } from "../../language/t.ts";
import { Button } from "../../ui/Button.tsx";
import { shownTitle } from "../../ui/conversation-title.ts";
import { Spinner } from "../../ui/Spinner.tsx";
import { TimeAgo } from "../../ui/TimeAgo.tsx";
import styles from "./ConversationSidebar.module.css";
import { type SearchResult, searchWords, wordPattern } from "./message-search.ts";
import type { Workspace } from "./workspace.ts";

/** Whoever types is asked no question of the gateway for every key, in milliseconds. */
const PAUSE_MS = 250;

interface FoundProps {
  readonly workspace: Workspace;
  readonly sought: string;
  readonly onChosen: () => void;
}

/** What was said with the words that are looked for, below the titles that have them. */
export function MessageSearchList({ workspace, sought, onChosen }: FoundProps) {
  const [result, setResult] = useState<SearchResult | null>(null);
  const text = searchWords(sought).join(" ");
  const asked = useRef(text);
  useEffect(() => {
    asked.current = text;
    setResult(null);
    if (text === "") return;
    const timer = setTimeout(async () => {
      const found = await workspace.library.search(text.split(" "));
      if (asked.current === text) setResult(found);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [workspace, text]);
  if (text === "") return null;
  const more = async (before: SearchResult) => {
    const found = await workspace.library.search(text.split(" "), before);
    if (asked.current === text && found !== null) setResult(found);
  };
  return (
    <section aria-label={t`In what was said`}>
      <p className={styles.group}>{t`In what was said`}</p>
      {result === null && <Spinner label={t`Searching`} />}
      {result?.found.length === 0 && <p className={styles.none}>{t`No message has these words.`}</p>}
      <ul className={styles.rows}>
        {result?.found.map(({ conversationId, turnId, title, role, excerpt, at }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what was found is only ever added to
          <li key={place} className={styles.row}>
            <button
              type="button"
              className={styles.choose}
              onClick={() => {
                onChosen();
                void workspace.openAt(conversationId, { turnId, words: text.split(" ") });
              }}
            >
              <span className={styles.excerpt} dir="auto">
                {markWords(excerpt, text.split(" "))}
              </span>
              <span className={styles.when}>
                <span className={styles.title}>
                  {role === "user"
                    ? t`You in ${shownTitle(title) || t`Untitled`}`
                    : t`Assistant in ${shownTitle(title) || t`Untitled`}`}
                </span>
                <TimeAgo at={at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {result?.cursor !== undefined && (
        <Button size="small" onClick={() => void more(result)}>
          {t`Show more`}
        </Button>
      )}
    </section>
  );
}

/** A text with the words in it marked. */
function markWords(text: string, words: readonly string[]): ReactNode {
  const parts = text.split(new RegExp(`(${wordPattern(words).source})`, "giu"));
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text keep their places
  return parts.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part));
}
