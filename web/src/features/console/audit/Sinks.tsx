import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { useReadsAll } from "../session.tsx";
import { useSinks } from "./call-queries.ts";

/** What an operator should not overlook: a place that the log is sent to takes no records. */
export function SinkFaults() {
  const sinks = useSinks(useReadsAll()).data?.sinks ?? [];
  return sinks.map(
    ({ name, behind, fault }) =>
      fault !== undefined && (
        <Banner key={name} tone="waiting" title={t`${name} takes no records: ${fault}`}>
          <p>
            {t`${behind} {record waits|records wait} in the log and {is sent when it is back. It is not lost.|are sent when it is back. None is lost.}`}
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
        {t`The log is sent to ${sinks.length} {place|places}`}
        {down.length > 0 && t`, ${down.length} of them down`}
      </summary>
      <ul>
        {sinks.map(({ name, kind, sent, behind, sentAt }) => (
          <li key={name}>
            {rich`${<VisibleText text={name} />} (${kind}): ${sent} records sent, ${behind} behind`}
            {sentAt !== undefined && <>{rich`, last at ${<ExactTime at={sentAt} />}`}</>}
          </li>
        ))}
      </ul>
    </details>
  );
}
