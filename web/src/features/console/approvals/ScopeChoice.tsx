import { useId } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { GrantScope, Pattern } from "../../../protocol/generated.ts";
import { classes } from "../../../ui/classes.ts";
import { describePattern } from "../../../ui/patterns.ts";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { type Coverage, coversUnseen, describeCoverage, SCOPE_LABELS } from "./coverage.ts";
import styles from "./ScopeChoice.module.css";

interface ScopeChoiceProps {
  readonly offers: readonly GrantScope[];
  /** Within what an argument can be left open, where the gateway found something narrower than any value. */
  readonly patterns: readonly Pattern[];
  readonly coverage: Coverage;
  readonly onScope: (scope: GrantScope) => void;
  readonly onFree: (name: string | null, within: Pattern | null) => void;
}

/** How long an approval lasts and which arguments are pinned: once, and all of them, unless the person says otherwise. */
export function ScopeChoice({ offers, patterns, coverage, onScope, onFree }: ScopeChoiceProps) {
  const group = useId();
  const names = Object.keys(coverage.arguments);
  return (
    <div className={styles.choice}>
      <fieldset className={styles.group}>
        <legend className={styles.legend}>{t`If you approve, for how long?`}</legend>
        <div className={styles.options}>
          {offers.map((scope) => (
            <label key={scope} className={styles.option}>
              <input
                type="radio"
                name={`${group}-scope`}
                checked={coverage.scope === scope}
                onChange={() => onScope(scope)}
              />
              {SCOPE_LABELS[scope]}
            </label>
          ))}
        </div>
      </fieldset>
      {coverage.scope !== "once" && names.length > 0 && (
        <fieldset className={styles.group}>
          <legend className={styles.legend}>{t`Which arguments must stay exactly as shown?`}</legend>
          <div className={styles.options}>
            <label className={styles.option}>
              <input
                type="radio"
                name={`${group}-freed`}
                checked={coverage.freed === null}
                onChange={() => onFree(null, null)}
              />
              {t`All of them`}
            </label>
            {patterns.map((pattern) => (
              <label key={pattern.argument} className={styles.option}>
                <input
                  type="radio"
                  name={`${group}-freed`}
                  checked={coverage.within === pattern}
                  onChange={() => onFree(pattern.argument, pattern)}
                />
                <span>
                  {rich`All but ${<VisibleText text={pattern.argument} />}, which stays ${<VisibleText text={describePattern(pattern)} prose />}`}
                </span>
              </label>
            ))}
            {names.map((name) => (
              <label key={name} className={styles.option}>
                <input
                  type="radio"
                  name={`${group}-freed`}
                  checked={coverage.freed === name && !coverage.within}
                  onChange={() => onFree(name, null)}
                />
                <span>{rich`All but ${<VisibleText text={name} />}`}</span>
              </label>
            ))}
          </div>
        </fieldset>
      )}
    </div>
  );
}

/** What an approval would cover with the present choice; shown beside the button that gives it. */
export function CoverageText({ coverage }: { readonly coverage: Coverage }) {
  return (
    <p className={classes(styles.coverage, coversUnseen(coverage) && styles.wide)} role="status">
      <strong>{t`Covers:`}</strong> <VisibleText text={describeCoverage(coverage)} prose />
      {coversUnseen(coverage) && (
        <strong className={styles.unseen}>{t`Calls will run with values that you have not seen.`}</strong>
      )}
    </p>
  );
}
