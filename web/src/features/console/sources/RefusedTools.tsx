import { t } from "../../../language/t.ts";
import type { Source } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { countedTools } from "./words.ts";

/** Offered tools that cannot be published, each with the reason. */
export function RefusedTools({ source: { refused, refusedCount } }: { readonly source: Source }) {
  if (refusedCount === 0) return null;
  return (
    <Banner tone="waiting" title={t`${countedTools(refusedCount)} cannot be published`}>
      <ul>
        {refused.map(({ tool, why }) => (
          <li key={tool}>
            <VisibleText text={tool} />: <VisibleText text={why} prose />
          </li>
        ))}
      </ul>
      {refused.length < refusedCount && <p>{t`And ${refusedCount - refused.length} more.`}</p>}
    </Banner>
  );
}
