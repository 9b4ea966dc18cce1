import { Banner } from "../../../ui/Banner.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { useReadsAll } from "../session.tsx";
import { useSinks } from "./call-queries.ts";

/** Where the log is sent as it happens, and how far each place is behind. Nothing where it is sent nowhere. */
export function Sinks() {
  const sinks = useSinks(useReadsAll()).data?.sinks ?? [];
  if (sinks.length === 0) return null;
  const down = sinks.filter(({ fault }) => fault !== undefined);
  return (
    <>
      {down.map(({ name, behind, fault = "" }) => (
        <Banner key={name} tone="waiting" title={`${name} takes no records: ${fault}`}>
          <p>{behind.toLocaleString("en")} wait in the log and are sent when it is back. None is lost.</p>
        </Banner>
      ))}
      <details>
        <summary>
          Sent to {sinks.length === 1 ? "1 place" : `${sinks.length} places`} outside this host
          {down.length > 0 && `, ${down.length} of them down`}
        </summary>
        <ul>
          {sinks.map(({ name, kind, sent, behind, sentAt }) => (
            <li key={name}>
              <VisibleText text={name} /> ({kind}): {sent.toLocaleString("en")} records sent,{" "}
              {behind.toLocaleString("en")} behind
              {sentAt !== undefined && (
                <>
                  , last at <ExactTime at={sentAt} />
                </>
              )}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}
