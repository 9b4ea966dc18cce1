import { t } from "../../../language/t.ts";
import type { PermissionMode, PolicyCell, RuleReason } from "../../../protocol/generated.ts";
import { RuleSentence } from "../../../ui/RuleSentence.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { MODE_TONES, MODE_WORDS, nameCircumstance } from "./words.ts";

/** Which rules decide a kind of action, what would change that, and which tools are treated otherwise. */
export function CellExplanation({ cell }: { readonly cell: PolicyCell }) {
  const unlisted = cell.exceptionCount - cell.exceptions.length;
  return (
    <div className="stack">
      {cell.host !== undefined && <VisibleText text={cell.host} />}
      <Verdict mode={cell.mode} because={cell.because} />
      <h3>{t`What would change it`}</h3>
      {cell.changes.length === 0 ? (
        <p>{t`Neither untrusted content nor a label of the conversation.`}</p>
      ) : (
        <ul className="stack">
          {cell.changes.map((change) => (
            <li key={nameCircumstance(change)}>
              <p>{nameCircumstance(change)}:</p>
              <Verdict mode={change.mode} because={change.because} />
            </li>
          ))}
        </ul>
      )}
      {cell.exceptions.length > 0 && (
        <>
          <h3>{t`Tools that are treated otherwise`}</h3>
          <ul className="stack">
            {cell.exceptions.map((exception) => (
              <li key={exception.tool}>
                <VisibleText text={exception.tool} />
                <Verdict mode={exception.mode} because={exception.because} />
              </li>
            ))}
          </ul>
          {unlisted > 0 && <p className="note">{t`and ${unlisted} more`}</p>}
        </>
      )}
    </div>
  );
}

interface VerdictProps {
  readonly mode: PermissionMode;
  readonly because: readonly RuleReason[];
}

function Verdict({ mode, because }: VerdictProps) {
  return (
    <>
      <p>
        <Tag tone={MODE_TONES[mode]}>{MODE_WORDS[mode]}</Tag>
      </p>
      {because.length === 0 && <p>{t`No rule permits it, and what no rule permits is forbidden.`}</p>}
      {because.map((rule) => (
        <p key={rule.id}>
          <RuleSentence why={rule.why} /> <code className="note">{rule.id}</code>
        </p>
      ))}
    </>
  );
}
