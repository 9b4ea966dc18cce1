import { useMemo } from "react";
import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import type { PolicyComparisonView } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Tag } from "../../../../ui/Tag.tsx";
import { VisibleText } from "../../../../ui/VisibleText.tsx";
import { ComparedLines } from "../../sources/ComparedLines.tsx";
import { MODE_WORDS, nameKind, PEOPLE } from "../words.ts";
import { nameChange } from "./sentences.ts";
import { changedFiles, type Texts } from "./texts.ts";

/** The changed lines of a draft. */
export function ChangedLines({ before, after }: { readonly before: Texts; readonly after: Texts }) {
  const files = useMemo(() => changedFiles(before, after), [before, after]);
  if (files.length === 0) return <p>{t`Its texts are those in force.`}</p>;
  return (
    <ul className="stack" aria-label={t`Changed files`}>
      {files.map(({ name, lines }) => (
        <li key={name}>
          <h3>
            <VisibleText text={name} />
          </h3>
          <ComparedLines lines={lines} label={t`${name}: old and new lines`} />
        </li>
      ))}
    </ul>
  );
}

/** What a draft decides otherwise, over kinds of calls. */
export function Comparison({ comparison }: { readonly comparison: PolicyComparisonView }) {
  const { compared, complete, differences, loosened, loosens } = comparison;
  return (
    <div className="stack">
      {loosens ? (
        <Banner tone="waiting" title={t`It asks for less than the version in force`}>
          <p>{t`Where another operator has a passkey, they have to sign too.`}</p>
        </Banner>
      ) : (
        <p>{t`It nowhere asks for less than the version in force.`}</p>
      )}
      {!complete && <p>{t`Not everything could be compared, so it counts as asking for less.`}</p>}
      {differences.length === 0 && <p>{t`Over ${compared} kinds of calls it decides alike.`}</p>}
      <ul className="stack" aria-label={t`Kinds of calls decided otherwise`}>
        {loosened.map((each) => (
          <li key={each}>
            <VisibleText text={each} prose />
          </li>
        ))}
        {differences.map((each) => (
          <li key={`${each.change} ${each.profile} ${each.category} ${each.example}`}>
            <p>
              {rich`${<Tag tone={each.loosens ? "waiting" : "info"}>{nameChange(each.change)}</Tag>} ${PEOPLE[each.profile]}: ${nameKind({ category: each.category })}, ${each.count} kinds of calls`}
            </p>
            <p className="note">
              {rich`such as ${<VisibleText text={each.example} />}: “${MODE_WORDS[each.before]}” becomes “${MODE_WORDS[each.after]}” by ${each.rules.join(", ") || t`no rule`}`}
            </p>
          </li>
        ))}
      </ul>
    </div>
  );
}
