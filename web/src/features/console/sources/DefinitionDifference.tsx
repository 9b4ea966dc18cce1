import { useMemo } from "react";
import { t } from "../../../language/t.ts";
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
        {t`Its definition is the same, but the source is not: it says another name than before, or it was reached at another place. Somebody else may answer now.`}
      </p>
    );
  }
  return (
    <ul className={styles.members} aria-label={t`What changed`}>
      {changed.map(({ name, lines }) => (
        <li key={name}>
          <h4>{nameMember(name)}</h4>
          <ComparedLines lines={lines} label={t`${nameMember(name)}: old and new lines`} />
        </li>
      ))}
    </ul>
  );
}

const MEMBERS: Readonly<Record<string, string>> = {
  name: t`Own name`,
  title: t`Title`,
  description: t`Description`,
  paramSchema: t`Parameters`,
  outputSchema: t`Form of results`,
  proposed: t`Proposed category`,
  because: t`Reason of the proposal`,
  summary: t`Summary on approvals`,
  effects: t`Effects on approvals`,
  network: t`Reaches the network`,
  recovery: t`After a crash`,
};

/** What a member of a definition is called on the page. */
export function nameMember(name: string): string {
  return MEMBERS[name] ?? name;
}
