import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import styles from "./CategoryButtons.module.css";
import { CHOICES, type ToolChoice } from "./words.ts";

/** The choices as buttons, for who decides without a keyboard. */
export function CategoryButtons({
  label,
  onChoose,
}: {
  readonly label: string;
  readonly onChoose: (choice: ToolChoice | "proposed") => void;
}) {
  return (
    <fieldset className={styles.choices} aria-label={label}>
      <div className="row">
        <Button size="small" variant="primary" onClick={() => onChoose("proposed")}>
          {t`As proposed`}
        </Button>
        {CHOICES.map(({ choice, label: name }) => (
          <Button
            key={choice}
            size="small"
            variant={choice === "keptOut" ? "danger" : "secondary"}
            onClick={() => onChoose(choice)}
          >
            {name}
          </Button>
        ))}
      </div>
    </fieldset>
  );
}
