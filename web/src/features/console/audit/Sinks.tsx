import { Banner } from "../../../ui/Banner.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { counted } from "../counted.ts";
import { useReadsAll } from "../session.tsx";
import { useSinks } from "./call-queries.ts";

/** What an operator should not overlook: a place that the log is sent to takes no records. */
export function SinkFaults() {
  const sinks = useSinks(useReadsAll()).data?.sinks ?? [];
  return sinks.map(
    ({ name, behind, fault }) =>
      fault !== undefined && (
        <Banner key={name} tone="waiting" title={`${name} takes no records: ${fault}`}>
          <p>
            {counted(behind, "record waits", "records wait")} in the log and{" "}
            {behind === 1 ? "is sent when it is back. It is not lost." : "are sent when it is back. None is lost."}
          </p>
        </Banner>
      ),
  );
}

/** Where the log is sent as it happens, and how far each place is behind. Nothing where it is sent nowhere. */
export function Sinks() {
  const sinks = useSinks(useReadsAll()).data?.sinks ?? [];
  if (sinks.length === 0) return null;
  const down = sinks.filter(({ fault }) => fault !== undefined);
  return (
    <details>
      <summary>
        The log is sent to {counted(sinks.length, "place", "places")}
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
  );
}
