import { useMemo } from "react";
import type { SourceTool } from "../../../protocol/generated.ts";
import { ComparedLines } from "./ComparedLines.tsx";
import styles from "./DefinitionDifference.module.css";
import { compareDefinitions } from "./difference.ts";

/** What a tool was when somebody decided about it, against what it is now. Nothing of a changed text is folded away. */
export function DefinitionDifference({
  decided,
  definition,
}: {
  readonly decided: NonNullable<SourceTool["decided"]>;
  readonly definition: SourceTool["definition"];
}) {
  const changed = useMemo(() => compareDefinitions(decided, definition), [decided, definition]);
  if (changed.length === 0) {
    return (
      <p className="note">
        Its definition is the same, but the source is not: it says another name than before, or it was reached at
        another place. Somebody else may answer now.
      </p>
    );
  }
  return (
    <ul className={styles.members} aria-label="What changed">
      {changed.map(({ name, lines }) => (
        <li key={name}>
          <h4>{nameMember(name)}</h4>
          <ComparedLines lines={lines} label={`${nameMember(name)}: old and new lines`} />
        </li>
      ))}
    </ul>
  );
}

const MEMBERS: Readonly<Record<string, string>> = {
  name: "Own name",
  title: "Title",
  description: "Description",
  paramSchema: "Parameters",
  outputSchema: "Form of results",
  proposed: "Proposed category",
  because: "Reason of the proposal",
  summary: "Summary on approvals",
  effects: "Effects on approvals",
  network: "Reaches the network",
  recovery: "After a crash",
};

/** What a member of a definition is called on the page. */
export function nameMember(name: string): string {
  return MEMBERS[name] ?? name;
}
