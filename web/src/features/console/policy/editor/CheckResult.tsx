import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import type { CaseFailure, PolicyCheck, PolicyFault } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { Tag } from "../../../../ui/Tag.tsx";
import { VisibleText } from "../../../../ui/VisibleText.tsx";
import { MODE_WORDS } from "../words.ts";

interface CheckResultProps {
  readonly check: PolicyCheck;
  readonly onGoTo: (fault: PolicyFault) => void;
}

/** What the gateway says about a draft: its faults, each with its place, and its decision table. */
export function CheckResult({ check: { faults, cases, rules }, onGoTo }: CheckResultProps) {
  const errors = faults.filter(({ severity }) => severity === "error").length;
  return (
    <div className="stack">
      <p role="status">
        {errors > 0 ? t`It cannot be used: ${errors} {fault|faults}.` : t`It loads, with ${rules} rules.`}
        {cases !== undefined && t` ${cases.total - cases.failed} of ${cases.total} cases hold.`}
      </p>
      {faults.length > 0 && (
        <ul className="stack" aria-label={t`Faults`}>
          {faults.map((fault) => (
            <li key={`${fault.file}:${fault.line}:${fault.column}:${fault.message}`}>
              <div className="row">
                <Tag tone={fault.severity === "error" ? "danger" : "waiting"}>
                  {fault.severity === "error" ? t`fault` : t`warning`}
                </Tag>
                <Button size="small" onClick={() => onGoTo(fault)}>
                  {t`${fault.file}, line ${fault.line}, column ${fault.column}`}
                </Button>
              </div>
              <VisibleText text={fault.message} prose />
            </li>
          ))}
        </ul>
      )}
      {cases !== undefined && cases.failed > 0 && (
        <Banner tone="danger" title={t`Cases that do not hold`}>
          <ul className="stack">
            {cases.failures.map((failure) => (
              <li key={`${failure.about} ${failure.question}`}>
                <p>
                  <VisibleText text={failure.about} prose />
                </p>
                <p className="note">
                  <Difference failure={failure} />
                </p>
              </li>
            ))}
          </ul>
          {cases.failed > cases.failures.length && <p>{t`and ${cases.failed - cases.failures.length} more`}</p>}
        </Banner>
      )}
    </div>
  );
}

/** What a case says and what came out. A case may also name the rule that decides, and then it is the rule that differs. */
function Difference({ failure }: { failure: CaseFailure }) {
  const question = <VisibleText text={failure.question} />;
  const [given, rules] = [MODE_WORDS[failure.given], failure.rules.join(", ") || t`no rule`];
  return failure.expected === failure.given
    ? rich`${question}: “${given}” as expected, but by ${rules}, and the case names another rule`
    : rich`${question}: expected “${MODE_WORDS[failure.expected]}”, is “${given}” by ${rules}`;
}
