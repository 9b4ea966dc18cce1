import { useMemo } from "react";
import { t } from "../../../../language/t.ts";
import type { PolicyProposed, PolicyText, SwitchDescription, SwitchDraft } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { Spinner } from "../../../../ui/Spinner.tsx";
import { VisibleText } from "../../../../ui/VisibleText.tsx";
import { explain } from "../../errors.ts";
import { ChangedLines, Comparison } from "../editor/Differences.tsx";
import { Propose } from "../editor/Propose.tsx";
import { RehearsalPanel } from "../editor/RehearsalPanel.tsx";
import { textsOf } from "../editor/texts.ts";
import { MODE_WORDS } from "../words.ts";
import { useComparison } from "./queries.ts";
import { SWITCHES } from "./words.ts";

interface TurnedSwitchProps {
  readonly given: SwitchDescription;
  readonly draft: SwitchDraft;
  readonly on: boolean;
  readonly active: PolicyText;
  readonly onProposed: (answer: PolicyProposed) => void;
  readonly onDrop: () => void;
}

/** What turning a switch would change: its rule, the rows that expect otherwise, kinds of calls, and the calls of the last days. */
export function TurnedSwitch({ given, draft, on, active, onProposed, onDrop }: TurnedSwitchProps) {
  const before = useMemo(() => textsOf(active.documents), [active.documents]);
  const after = useMemo(() => textsOf(draft.documents), [draft.documents]);
  const comparison = useComparison(after);
  const { cases, faults } = draft.check;
  return (
    <section className="stack" aria-label={t`Draft of the switch: ${SWITCHES[given.switch].title}`}>
      <h3>{t`What it changes`}</h3>
      <ChangedLines before={before} after={after} />
      {draft.amended.length > 0 && (
        <>
          <p>{t`These rows of the decision table expect something else with it:`}</p>
          <ul className="stack" aria-label={t`Rows that expect something else`}>
            {draft.amended.map((each) => (
              <li key={`${each.file} ${each.about} ${each.question}`}>
                <VisibleText text={each.about} prose /> <span className="note">({each.question})</span>:{" "}
                {each.before === each.after
                  ? t`“${MODE_WORDS[each.after]}” as before, by other rules`
                  : t`“${MODE_WORDS[each.before]}” becomes “${MODE_WORDS[each.after]}”`}
              </li>
            ))}
          </ul>
        </>
      )}
      {(faults.some(({ severity }) => severity === "error") || (cases !== undefined && cases.failed > 0)) && (
        <Banner
          tone="danger"
          title={t`Rows of the decision table do not hold under it, so it cannot be put in force`}
        />
      )}
      {comparison.isError && <Banner tone="danger" urgent title={explain(comparison.error)} />}
      {comparison.isPending && <Spinner label={t`Comparing over every kind of call`} />}
      {comparison.data !== undefined && <Comparison comparison={comparison.data} />}
      <h3>{t`What it would have done`}</h3>
      <RehearsalPanel texts={after} begin />
      <Propose texts={after} base={draft.base} suggestion={reasonOf(given, on)} onProposed={onProposed} />
      <div className="row">
        <Button variant="quiet" onClick={onDrop}>
          {t`Leave it as it is`}
        </Button>
      </div>
    </section>
  );
}

function reasonOf(given: SwitchDescription, on: boolean): string {
  return `Switch “${SWITCHES[given.switch].title}” ${on ? (given.state === "on" ? "changed" : "turned on") : "turned off"}`;
}
