import { VisibleText } from "../../ui/VisibleText.tsx";
import styles from "./CompletionMenu.module.css";
import type { Suggestion } from "./completion.ts";

export interface CompletionMenuProps {
  readonly id: string;
  readonly label: string;
  readonly suggestions: readonly Suggestion[];
  /** Which one Enter takes. */
  readonly chosen: number;
  readonly onTake: (suggestion: Suggestion) => void;
}

/** The id of the suggestion that is chosen, for `aria-activedescendant` of the field that keeps the focus. */
export function optionId(menuId: string, place: number): string {
  return `${menuId}-${place}`;
}

/** What the text could go on with, above the field that it is typed into. */
export function CompletionMenu({ id, label, suggestions, chosen, onTake }: CompletionMenuProps) {
  return (
    <div id={id} className={styles.menu} role="listbox" aria-label={label}>
      {suggestions.map((suggestion, place) => (
        <div
          key={suggestion.key}
          id={optionId(id, place)}
          ref={place === chosen ? (option) => option?.scrollIntoView?.({ block: "nearest" }) : undefined}
          role="option"
          tabIndex={-1}
          aria-selected={place === chosen}
          className={styles.option}
          onPointerDown={(event) => {
            event.preventDefault();
            onTake(suggestion);
          }}
        >
          <code>{suggestion.own ? suggestion.label : <VisibleText text={suggestion.label} />}</code>
          {suggestion.what !== "" && (
            <span className={styles.what}>
              <VisibleText text={suggestion.what} prose />
            </span>
          )}
        </div>
      ))}
    </div>
  );
}
