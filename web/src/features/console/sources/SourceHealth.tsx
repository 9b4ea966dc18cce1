import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { Source } from "../../../protocol/generated.ts";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { describeState } from "./words.ts";

/** How a source is: its state in words, what it says of itself, and the last error. */
export function SourceHealth({ source }: { readonly source: Source }) {
  const { label, tone } = describeState(source);
  return (
    <div>
      <div className="row">
        <Tag tone={tone}>{label}</Tag>
        {source.version !== "" && (
          <span className="note">{rich`version ${<VisibleText text={source.version} prose />}`}</span>
        )}
        {source.declared && <span className="note">{t`declared in countersign.toml`}</span>}
      </div>
      {source.why !== undefined && <p>{rich`Last error: ${<VisibleText text={source.why} prose />}`}</p>}
    </div>
  );
}
