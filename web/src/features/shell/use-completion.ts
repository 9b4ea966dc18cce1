import { useEffect, useMemo, useRef, useState } from "react";
import { t } from "../../language/t.ts";
import type { ModelInfo } from "../../protocol/generated.ts";
import { useAnnounce } from "../../ui/LiveRegion.tsx";
import {
  LEAST_LOOKED_FOR,
  type Suggestion,
  suggestCommand,
  suggestModels,
  suggestPaths,
  suggestTools,
  type Wanted,
  wantedAt,
} from "./completion.ts";
import type { Lookups } from "./lookups.ts";

/** How long a person pauses before something is asked for. */
const PAUSE_MS = 150;

const LABELS: Readonly<Record<Wanted["kind"], string>> = {
  command: t`Commands`,
  tool: t`Tools`,
  model: t`Models`,
  path: t`Files`,
};

const NONE: readonly Suggestion[] = [];

/** What the text up to the caret could go on with. What has to be asked for comes when the person pauses. */
export function useCompletion(
  lookups: Lookups,
  models: readonly ModelInfo[],
  conversationId: string | null,
  text: string,
  caret: number,
) {
  const wanted = useMemo(() => wantedAt(text, caret), [text, caret]);
  const [found, setFound] = useState<{ readonly wanted: Wanted; readonly suggestions: readonly Suggestion[] }>();
  const [dismissed, setDismissed] = useState<string | null>(null);
  const [choice, setChoice] = useState({ of: NONE, place: 0 });
  const announce = useAnnounce();

  useEffect(() => {
    if (wanted === null || wanted.kind === "command" || wanted.kind === "model") return;
    const asked = window.setTimeout(() => {
      void suggest(lookups, conversationId, wanted).then(
        (suggestions) => setFound({ wanted, suggestions }),
        () => setFound({ wanted, suggestions: NONE }),
      );
    }, PAUSE_MS);
    return () => window.clearTimeout(asked);
  }, [lookups, conversationId, wanted]);

  const suggestions = useMemo(() => {
    if (wanted === null || dismissed === text) return NONE;
    if (wanted.kind === "command") return suggestCommand(wanted);
    if (wanted.kind === "model") return suggestModels(wanted, models);
    return found?.wanted === wanted ? found.suggestions : NONE;
  }, [wanted, dismissed, text, found, models]);

  // Of other suggestions the first one is chosen again.
  const chosen = choice.of === suggestions ? choice.place : 0;

  const told = useRef(0);
  useEffect(() => {
    const { length } = suggestions;
    if (length > 0 && length !== told.current)
      announce(length === 1 ? t`One suggestion.` : t`${length} suggestions. Arrow keys choose, Enter takes.`);
    told.current = length;
  }, [suggestions, announce]);

  return {
    label: LABELS[wanted?.kind ?? "command"],
    suggestions,
    chosen,
    active: suggestions[chosen],
    move: (by: 1 | -1) =>
      setChoice({ of: suggestions, place: (chosen + by + suggestions.length) % suggestions.length }),
    dismiss: (of: string) => setDismissed(of),
  };
}

async function suggest(
  lookups: Lookups,
  conversationId: string | null,
  wanted: Extract<Wanted, { readonly kind: "tool" | "path" }>,
): Promise<readonly Suggestion[]> {
  if (wanted.kind === "tool") return suggestTools(wanted, await lookups.tools(conversationId));
  const entries = await lookups.folder(wanted.folder);
  const here = suggestPaths(wanted, entries);
  if (here.length > 0 || wanted.start.length < LEAST_LOOKED_FOR) return here;
  // Whoever knows the name of a file need not know the folder that it is in.
  const { foldersBelow, suggestPathsBelow } = await import("./completion-below.ts");
  const below = foldersBelow(wanted, entries).map(async (folder) => [folder, await lookups.folder(folder)] as const);
  return suggestPathsBelow(wanted, await Promise.all(below));
}
