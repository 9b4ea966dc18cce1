import { language } from "../../../language/language.ts";
import { t } from "../../../language/t.ts";
import type {
  Category,
  PermissionMode,
  Source,
  SourceKind,
  SourceTool,
  Standing,
} from "../../../protocol/generated.ts";
import type { Tone } from "../../../ui/Tag.tsx";

/** What a person can decide about a tool: its category, or that nobody calls it. */
export type ToolChoice = Category | "keptOut";

/** Each choice with its key and what it means, in the order in which they are offered. */
export const CHOICES: readonly { readonly choice: ToolChoice; readonly key: string; readonly label: string }[] = [
  { choice: "read", key: "r", label: t`Read` },
  { choice: "write", key: "w", label: t`Write` },
  { choice: "destructive", key: "d", label: t`Destructive` },
  { choice: "network", key: "n", label: t`Network` },
  { choice: "execute", key: "e", label: t`Execute` },
  { choice: "admin", key: "a", label: t`Admin` },
  { choice: "keptOut", key: "x", label: t`Forbid` },
];

/** What a choice is called in a sentence. */
export function nameChoice(choice: ToolChoice): string {
  return choice === "keptOut" ? t`forbidden` : choice;
}

export const STANDING_LABELS: Readonly<Record<Standing, string>> = {
  proposed: t`undecided, cannot be called`,
  inUse: t`in use`,
  keptOut: t`forbidden`,
  quarantined: t`changed, cannot be called`,
};

export const STANDING_TONES: Readonly<Record<Standing, Tone>> = {
  proposed: "waiting",
  inUse: "ok",
  keptOut: "plain",
  quarantined: "danger",
};

/** What the policy makes of a call. */
export const MODE_LABELS: Readonly<Record<PermissionMode, string>> = {
  auto: t`runs at once`,
  consent: t`asks for consent`,
  stepUp: t`asks for a passkey`,
  forbidden: t`never`,
};

export const PROFILES = [
  ["operator", t`Operators`],
  ["guest", t`Guests`],
  ["anonymous", t`Visitors`],
] as const;

/** What the policy makes of a tool, for somebody who listens. */
export function sayModes({ modes }: SourceTool): string {
  return PROFILES.map(([profile, label]) => `${label}: ${MODE_LABELS[modes[profile]]}`).join(", ");
}

export const KIND_LABELS: Readonly<Record<SourceKind, string>> = {
  mcp: t`MCP server`,
  http: t`HTTP API`,
  sql: t`database`,
};

/** How a source is now, in words and with a colour. */
export function describeState(source: Source): { readonly label: string; readonly tone: Tone } {
  if (!source.enabled) return { label: t`switched off`, tone: "plain" };
  switch (source.state) {
    case "ready":
      return { label: t`ready`, tone: "ok" };
    case "connecting":
      return { label: t`connecting`, tone: "info" };
    case "away":
      return { label: t`away`, tone: "danger" };
    case "needsSignIn":
      return { label: t`needs a sign-in`, tone: "waiting" };
    default:
      return { label: t`off`, tone: "plain" };
  }
}

/** How many of its tools are how far, the ones that need a person first. Zeros are left out. */
export function countTools({ counts }: Source): readonly { readonly label: string; readonly tone: Tone }[] {
  return [
    { count: counts.quarantined, label: t`changed`, tone: "danger" as const },
    { count: counts.proposed, label: t`undecided`, tone: "waiting" as const },
    { count: counts.inUse, label: t`in use`, tone: "ok" as const },
    { count: counts.keptOut, label: t`forbidden`, tone: "plain" as const },
  ]
    .filter(({ count }) => count > 0)
    .map(({ count, label, tone }) => ({ label: `${count.toLocaleString(language)} ${label}`, tone }));
}

export function totalOf({ counts }: Source): number {
  return counts.proposed + counts.inUse + counts.keptOut + counts.quarantined;
}

/** `3 tools`. */
export function countedTools(count: number): string {
  return t`${count} {tool|tools}`;
}
