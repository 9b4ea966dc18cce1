import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import type { PolicyProposed, PolicyText, SwitchDescription } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { Card } from "../../../../ui/Card.tsx";
import { TextAreaField } from "../../../../ui/Field.tsx";
import { Tag } from "../../../../ui/Tag.tsx";
import { VisibleText } from "../../../../ui/VisibleText.tsx";
import { explain } from "../../errors.ts";
import { paths } from "../../paths.ts";
import { useAsk } from "../../session.tsx";
import { ComparedLines } from "../../sources/ComparedLines.tsx";
import { TurnedSwitch } from "./TurnedSwitch.tsx";
import { readList, STATE_TONES, STATE_WORDS, SWITCH_ARGUMENTS, SWITCHES } from "./words.ts";

interface SwitchCardProps {
  readonly given: SwitchDescription;
  readonly active: PolicyText;
  readonly onProposed: (answer: PolicyProposed) => void;
}

/** One switch: what it does, how it stands, and the draft that turning it makes. */
export function SwitchCard({ given, active, onProposed }: SwitchCardProps) {
  const ask = useAsk();
  const { title: name, meaning } = SWITCHES[given.switch];
  const [listed, setListed] = useState(given.arguments.join("\n"));
  const turn = useMutation({
    mutationFn: (on: boolean) =>
      ask("policy/turn-switch", { switch: given.switch, on, ...(on && { arguments: readList(listed) }) }),
  });
  const on = given.state === "on";
  const words = given.takes === "nothing" ? undefined : SWITCH_ARGUMENTS[given.takes];
  return (
    <Card as="li">
      <div className="row">
        <h3>{name}</h3>
        <Tag tone={STATE_TONES[given.state]}>{STATE_WORDS[given.state]}</Tag>
      </div>
      <p>{meaning}</p>
      {given.text !== "" && (
        <details>
          <summary>{t`The rule that it wrote`}</summary>
          <RuleText text={given.text} label={t`Rule of the switch: ${name}`} />
        </details>
      )}
      {given.state === "changedByHand" ? (
        <p>
          {rich`Its rules in ${<VisibleText text={given.file} />} are not as the switch writes them, so it leaves them alone. Change them in the ${(inner) => <Link href={paths.policyEditor}>{inner}</Link>}<policy editor>.`}
        </p>
      ) : (
        <>
          {words !== undefined && (
            <TextAreaField
              label={words.label}
              hint={words.hint}
              value={listed}
              onChange={(event) => setListed(event.target.value)}
            />
          )}
          <div className="row">
            {(!on || words !== undefined) && (
              <Button
                busy={turn.isPending && turn.variables}
                disabled={words !== undefined && readList(listed).length === 0}
                onClick={() => turn.mutate(true)}
              >
                {on ? t`Change it…` : t`Turn it on…`} <span className="visually-hidden">({name})</span>
              </Button>
            )}
            {on && (
              <Button busy={turn.isPending && !turn.variables} onClick={() => turn.mutate(false)}>
                {t`Turn it off…`} <span className="visually-hidden">({name})</span>
              </Button>
            )}
          </div>
        </>
      )}
      {turn.isError && <Banner tone="danger" urgent title={explain(turn.error)} />}
      {turn.data !== undefined && (
        <TurnedSwitch
          // A switch that is turned again makes another draft, with nothing left of the one before.
          key={turn.submittedAt}
          given={given}
          draft={turn.data}
          on={turn.variables}
          active={active}
          onProposed={(answer) => {
            if (answer.outcome === "proposed") turn.reset();
            onProposed(answer);
          }}
          onDrop={() => turn.reset()}
        />
      )}
    </Card>
  );
}

/** A rule as it stands in its file. */
function RuleText({ text, label }: { readonly text: string; readonly label: string }) {
  return <ComparedLines label={label} lines={text.split("\n").map((line) => ({ mark: "same", text: line }))} />;
}
