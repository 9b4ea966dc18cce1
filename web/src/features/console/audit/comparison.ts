import { t } from "../../../language/t.ts";
import type { CallDifference, ComparisonFinding, ConversationComparison } from "../../../protocol/generated.ts";
import type { Tone } from "../../../ui/Tag.tsx";
import { cutText } from "./cut-text.ts";

/** Which two conversations are compared, as written in the address. An empty text: not chosen yet. */
export interface ComparisonView {
  readonly first: string;
  readonly second: string;
}

export function readComparisonView(search: string): ComparisonView {
  const params = new URLSearchParams(search);
  // An id has at most 64 characters; a longer one would be a malformed request instead of an unknown conversation.
  const read = (name: string) => cutText((params.get(name) ?? "").trim(), 64);
  return { first: read("first"), second: read("second") };
}

export function writeComparisonView({ first, second }: ComparisonView): string {
  const said = Object.entries({ first, second }).filter(([, id]) => id !== "");
  return said.length === 0 ? "" : `?${new URLSearchParams(said)}`;
}

export const FINDINGS: Readonly<Record<ComparisonFinding, readonly [string, Tone]>> = {
  same: [t`Same`, "ok"],
  different: [t`Different`, "waiting"],
  cannotBeTold: [t`Cannot be told`, "info"],
  firstOnly: [t`Only in the first`, "accent"],
  secondOnly: [t`Only in the second`, "accent"],
};

export const DIFFERENCES: Readonly<Record<CallDifference, string>> = {
  tool: t`tool`,
  arguments: t`arguments`,
  decision: t`decision`,
  rules: t`rules`,
  outcome: t`outcome`,
};

/** How many calls there are of each kind, in one sentence. */
export function summarizeComparison({ pairs }: ConversationComparison): string {
  const count = (...findings: readonly ComparisonFinding[]) =>
    pairs.filter(({ finding }) => findings.includes(finding)).length;
  return [
    t`${count("same")} the same`,
    t`${count("different")} different`,
    t`${count("cannotBeTold")} that cannot be told`,
    t`${count("firstOnly", "secondOnly")} in one of them only`,
  ].join(", ");
}

/** Whether both have calls and not one of them is in both. */
export function hasNothingInCommon({ first, second, pairs }: ConversationComparison): boolean {
  return (
    first.calls > 0 &&
    second.calls > 0 &&
    pairs.every(({ finding }) => finding !== "same" && finding !== "cannotBeTold")
  );
}
