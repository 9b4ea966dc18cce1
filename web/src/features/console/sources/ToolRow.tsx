import { memo } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { SourceTool } from "../../../protocol/generated.ts";
import { Button } from "../../../ui/Button.tsx";
import { classes } from "../../../ui/classes.ts";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { CategoryButtons } from "./CategoryButtons.tsx";
import { DefinitionDifference } from "./DefinitionDifference.tsx";
import { ToolDetails } from "./ToolDetails.tsx";
import styles from "./ToolRow.module.css";
import { MODE_LABELS, PROFILES, STANDING_LABELS, STANDING_TONES, type ToolChoice } from "./words.ts";

/** Characters of a description that stand in a row; the whole of it is in the details. */
const SHOWN = 240;

export interface ToolRowProps {
  readonly tool: SourceTool;
  readonly position: number;
  /** The keyboard enters the list here. */
  readonly current: boolean;
  readonly selected: boolean;
  readonly open: boolean;
  readonly onToggle: (tool: string) => void;
  readonly onChoose: (choice: ToolChoice | "proposed", tool: SourceTool) => void;
}

/** One tool: its names, what is proposed and decided, and what the policy makes of it for each profile. */
export const ToolRow = memo(function ToolRow({
  tool,
  position,
  current,
  selected,
  open,
  onToggle,
  onChoose,
}: ToolRowProps) {
  const description = String(tool.definition.description ?? "");
  const short = Array.from(description).slice(0, SHOWN).join("");
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table cannot become a list of cards on a narrow screen
    <div
      role="row"
      tabIndex={current ? 0 : -1}
      aria-selected={selected}
      aria-rowindex={position + 1}
      data-position={position}
      className={classes(styles.row, selected && styles.selected, tool.standing === "quarantined" && styles.changed)}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the row takes the focus, as WAI-ARIA allows it for a grid */}
      <div role="gridcell" className={styles.main}>
        <div className="row">
          <span className={styles.name}>
            <VisibleText text={tool.name} />
          </span>
          <Tag tone={STANDING_TONES[tool.standing]}>{STANDING_LABELS[tool.standing]}</Tag>
          {tool.category !== undefined && <Tag tone="accent">{tool.category}</Tag>}
          {!tool.offered && <Tag tone="danger">{t`not offered any more`}</Tag>}
        </div>
        <p className={styles.description}>
          <VisibleText text={short.length < description.length ? `${short}…` : short} prose fold={false} />
        </p>
        <p className="note">{rich`Its own name: ${<VisibleText text={tool.tool} />}`}</p>
        <p className="note">
          {rich`Proposed: ${<strong>{tool.proposed}</strong>}`}
          {tool.because !== "" && <>{rich`, because of ${<VisibleText text={tool.because} prose />}`}</>}
        </p>
        {tool.standing !== "inUse" && (
          <p className="note">{t`What the policy would make of it as ${tool.category ?? tool.proposed}:`}</p>
        )}
        <ul
          className={styles.modes}
          aria-label={tool.category === undefined ? t`With the proposed category` : t`Policy`}
        >
          {PROFILES.map(([profile, label]) => (
            <li key={profile}>
              {label}: {MODE_LABELS[tool.modes[profile]]}
            </li>
          ))}
        </ul>
        {tool.decided !== undefined && (
          <section className={styles.difference} aria-label={t`What changed in ${tool.name}`}>
            <h3>{t`It changed after somebody decided about it`}</h3>
            <DefinitionDifference decided={tool.decided} definition={tool.definition} />
          </section>
        )}
        {open && (
          <div className={styles.details}>
            <CategoryButtons label={t`Decide about ${tool.name}`} onChoose={(choice) => onChoose(choice, tool)} />
            <ToolDetails tool={tool} />
          </div>
        )}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the row takes the focus, as WAI-ARIA allows it for a grid */}
      <div role="gridcell" className={styles.more}>
        <Button
          size="small"
          variant="quiet"
          tabIndex={current ? 0 : -1}
          aria-expanded={open}
          aria-label={t`Details of ${tool.name}`}
          onClick={() => onToggle(tool.tool)}
        >
          {t`Details`}
        </Button>
      </div>
    </div>
  );
});
