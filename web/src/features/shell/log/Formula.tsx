import { createElement, type ReactNode, useEffect, useMemo, useState } from "react";
import type { FormulaToken } from "./formula-syntax.ts";
import type { DrawFormula, FormulaPart } from "./formula-tree.ts";
import styles from "./Markdown.module.css";

// Loaded with the first formula, and once for all of them.
let draw: DrawFormula | null = null;

/** A formula as mathematics, as soon as what draws it is here. One that cannot be read is shown as it was written. */
export function Formula({ formula: { raw, tex, display } }: { readonly formula: FormulaToken }) {
  const [ready, setReady] = useState(draw !== null);
  useEffect(() => {
    if (ready) return;
    let isOver = false;
    import("./formula-tree.ts").then(
      (module) => {
        draw = module.drawFormula;
        if (!isOver) setReady(true);
      },
      // A formula as it was written can be read all the same.
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [ready]);
  const part = useMemo(() => (ready ? (draw?.(tex, display) ?? null) : null), [ready, tex, display]);
  if (part === null) return raw.trim();
  if (!display) return drawn(part);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <span className={styles.formula} tabIndex={0}>
      {drawn(part)}
    </span>
  );
}

function drawn(part: FormulaPart): ReactNode {
  return typeof part === "string" ? part : createElement(part.name, part.attributes, ...part.parts.map(drawn));
}
