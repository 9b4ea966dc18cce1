import { useState } from "react";
import type { KeptTexts } from "./shell-environment.ts";

interface Pins {
  readonly pinned: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
}

const NAME = "pinned";

/** The conversations that a person keeps at the top of the list, in this browser. Ids have no spaces. */
export function usePins(kept: KeptTexts): Pins {
  const [pinned, setPinned] = useState<ReadonlySet<string>>(() => new Set(kept.read(NAME).split(" ").filter(Boolean)));
  const toggle = (id: string) => {
    const next = new Set(pinned);
    if (!next.delete(id)) next.add(id);
    setPinned(next);
    kept.write(NAME, [...next].join(" "));
  };
  return { pinned, toggle };
}
