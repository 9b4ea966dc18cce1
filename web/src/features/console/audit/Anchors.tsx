import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { useReadsAll } from "../session.tsx";
import { useSinks } from "./call-queries.ts";

/** Where checkpoints of the log are kept, since when, and what it means that records are not anchored. For who sees the whole log. */
export function Anchors() {
  const anchors = useSinks(useReadsAll()).data?.anchors;
  if (anchors === undefined) return null;
  const down = anchors.filter(({ fault }) => fault !== undefined);
  return (
    <>
      {down.map(({ name, unanchored, fault = "" }) => (
        <Banner key={name} tone="waiting" title={t`${name} takes no checkpoint: ${fault}`}>
          <p>{t`${unanchored} records are not anchored there. It is tried again until it does.`}</p>
        </Banner>
      ))}
      <details>
        <summary>{summarise(anchors.length)}</summary>
        <ul>
          {anchors.map(({ name, kind, size, unanchored, anchoredAt }) => (
            <li key={name}>
              {rich`${<VisibleText text={name} />} (${kind}): ${size} records anchored, ${unanchored} not yet`}
              {anchoredAt !== undefined && <>{rich`, last at ${<ExactTime at={anchoredAt} />}`}</>}
            </li>
          ))}
        </ul>
        <p>
          {t`What is not anchored rests on this host alone: whoever has its database and the log's key can write those records anew, and no check can tell.`}
        </p>
      </details>
    </>
  );
}

function summarise(count: number): string {
  if (count === 0) return t`No checkpoint is kept outside this host`;
  return t`Checkpoints are kept in ${count} {place|places} outside this host`;
}
