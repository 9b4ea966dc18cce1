import { useDeferredValue, useEffect, useState } from "react";
import styles from "./Code.module.css";
import type { CodePart, Highlight } from "./highlight.ts";

/** Longer code than this, in characters, stays plain: colouring it would take longer than a frame. */
const LONGEST = 20_000;

// Loaded with the first code of a known language, and once for all of them.
let highlight: Highlight | null = null;

/** Code, coloured as soon as what colours it is here. */
export function Code({ text, lang }: { readonly text: string; readonly lang: string }) {
  const [ready, setReady] = useState(highlight !== null);
  const shown = useDeferredValue(text);
  const wanted = lang !== "" && shown.length <= LONGEST;
  useEffect(() => {
    if (!wanted || ready) return;
    let isOver = false;
    import("./highlight.ts").then(
      (module) => {
        highlight = module.highlight;
        if (!isOver) setReady(true);
      },
      // Code without colours is code all the same.
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [wanted, ready]);
  const parts = wanted && ready && shown === text ? highlight?.(text, lang) : null;
  return <code>{parts == null ? text : <Parts parts={parts} />}</code>;
}

function Parts({ parts }: { readonly parts: readonly CodePart[] }) {
  return parts.map((part, index) =>
    typeof part === "string" ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text keep their places
      <span key={index} className={styles[part.kind]}>
        <Parts parts={part.parts} />
      </span>
    ),
  );
}
