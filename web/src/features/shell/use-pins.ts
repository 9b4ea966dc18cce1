import { useEffect, useState } from "react";
import type { KeptTexts, ShellEnvironment } from "./shell-environment.ts";

interface Pins {
  readonly pinned: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
}

const NAME = "pinned";

/** The conversations that a person keeps at the top of the list, in this browser. */
export function usePins({ kept, onKeptElsewhere }: Pick<ShellEnvironment, "kept" | "onKeptElsewhere">): Pins {
  const [pinned, setPinned] = useState(() => readPins(kept));
  useEffect(
    () =>
      onKeptElsewhere((name) => {
        if (name === null || name === NAME) setPinned(readPins(kept));
      }),
    [kept, onKeptElsewhere],
  );
  const toggle = (id: string) => {
    const next = new Set(pinned);
    if (!next.delete(id)) next.add(id);
    setPinned(next);
    kept.write(NAME, [...next].join(" "));
  };
  return { pinned, toggle };
}

/** Ids have no spaces. */
function readPins(kept: KeptTexts): ReadonlySet<string> {
  return new Set(kept.read(NAME).split(" ").filter(Boolean));
}
