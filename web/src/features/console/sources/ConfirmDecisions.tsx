import { t } from "../../../language/t.ts";
import type { SourceDecision } from "../../../protocol/generated.ts";
import { Button } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import styles from "./ConfirmDecisions.module.css";
import { CHOICES, countedTools } from "./words.ts";

interface ConfirmDecisionsProps {
  /** What is asked about; null while nothing is. */
  readonly decisions: readonly SourceDecision[] | null;
  readonly busy: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Several decisions at once, listed by category before they are made. */
export function ConfirmDecisions({ decisions, busy, onConfirm, onClose }: ConfirmDecisionsProps) {
  const all = decisions ?? [];
  return (
    <Dialog
      open={decisions !== null}
      title={t`Decide about ${countedTools(all.length)}?`}
      onClose={onClose}
      actions={
        <Button variant="primary" busy={busy} onClick={onConfirm}>
          {t`Decide about all`}
        </Button>
      }
    >
      {CHOICES.map(({ choice, label }) => {
        const tools = all.filter(({ category }) => (category ?? "keptOut") === choice);
        if (tools.length === 0) return null;
        return (
          <section key={choice} className={styles.group} aria-label={label}>
            <p>
              <Tag tone={choice === "keptOut" ? "plain" : "accent"}>{label}</Tag> {countedTools(tools.length)}
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
            <ul className={styles.tools} tabIndex={0} aria-label={t`${label}: tools`}>
              {tools.map(({ tool }) => (
                <li key={tool}>
                  <VisibleText text={tool} />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      <p className="note">
        {t`The tools can be called from then on as the policy says of their categories; forbidden ones cannot.`}
      </p>
    </Dialog>
  );
}
