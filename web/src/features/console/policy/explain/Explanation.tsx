import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import type { CallExplanation, ExplainedRule } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Card } from "../../../../ui/Card.tsx";
import { Digest } from "../../../../ui/Digest.tsx";
import { JsonView } from "../../../../ui/JsonView.tsx";
import { Tag } from "../../../../ui/Tag.tsx";
import { VisibleText } from "../../../../ui/VisibleText.tsx";
import { ComparedLines } from "../../sources/ComparedLines.tsx";
import { MODE_TONES, MODE_WORDS, nameKind, PEOPLE } from "../words.ts";
import { nameDifference } from "./sentences.ts";

/** A verdict with its rules, their texts, and what would change it. */
export function Explanation({ told }: { readonly told: CallExplanation }) {
  const { facts, mode, now, rules, changes } = told;
  return (
    <Card as="section" label={t`Explanation`}>
      <h2>
        <VisibleText text={told.tool} />: <Tag tone={MODE_TONES[mode]}>{MODE_WORDS[mode]}</Tag>
      </h2>
      <p>
        {t`${PEOPLE[told.profile]}, ${nameKind({ category: told.category })}, in a conversation with the label ${told.label}`}
        {told.tainted && t` that has read untrusted content`}.
      </p>
      {Object.keys(facts).length > 0 ? (
        <>
          <p>{t`What the tool says about the call:`}</p>
          <JsonView value={facts} openTo={1} />
        </>
      ) : (
        <p>{t`The tool says nothing about this call that rules could look at.`}</p>
      )}
      {now !== undefined && now !== mode && (
        <Banner tone="info" title={t`Under the version in force it would be “${MODE_WORDS[now]}”`} />
      )}
      <h3>{t`Rules that decide`}</h3>
      {rules.length === 0 && <p>{t`No rule permits it, and what no rule permits is forbidden.`}</p>}
      <ul className="stack" aria-label={t`Rules that decide`}>
        {rules.map((rule) => (
          <li key={rule.id}>
            <Rule rule={rule} />
          </li>
        ))}
      </ul>
      <h3>{t`What would change it`}</h3>
      {changes.length === 0 && <p>{t`Nothing else about it that rules look at.`}</p>}
      <ul className="stack" aria-label={t`What would change it`}>
        {changes.map((change) => (
          <li key={`${change.what} ${String(change.value)}`}>
            <VisibleText text={nameDifference(change)} prose />:{" "}
            <Tag tone={MODE_TONES[change.mode]}>{MODE_WORDS[change.mode]}</Tag>{" "}
            <span className="note">{change.rules.join(", ") || t`no rule permits it`}</span>
          </li>
        ))}
      </ul>
      <p className="note">{rich`Version ${<Digest value={told.version} />}`}</p>
    </Card>
  );
}

function Rule({ rule: { id, why, file, line, text } }: { readonly rule: ExplainedRule }) {
  return (
    <>
      <p>
        <VisibleText text={why} prose /> <code className="note">{id}</code>
      </p>
      {text !== undefined && (
        <details>
          <summary>{rich`${<VisibleText text={file ?? ""} />}, line ${line}`}</summary>
          <ComparedLines
            label={t`Text of the rule ${id}`}
            lines={text.split("\n").map((each) => ({ mark: "same", text: each }))}
          />
        </details>
      )}
    </>
  );
}
