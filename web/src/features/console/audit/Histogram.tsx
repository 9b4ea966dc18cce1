import { language } from "../../../language/language.ts";
import { t } from "../../../language/t.ts";
import type { CallCount } from "../../../protocol/generated.ts";
import { classes } from "../../../ui/classes.ts";
import { shortMoment, utcDay } from "../../../ui/moments.ts";
import styles from "./Histogram.module.css";
import { ENDINGS, type Ending, endingOf } from "./outcome-words.ts";

const HEIGHT = 64;
const WIDTH = 1_000;
/** Shown at least, so that one failure among thousands is seen. */
const LEAST = 2;

interface HistogramProps {
  readonly count: CallCount;
  /** Called with the beginning and the end of the bar that was pressed, in RFC 3339. */
  readonly onChoose: (from: string, to: string) => void;
}

/** Calls over time by how they ended, with their numbers in a table for whoever does not see it. */
export function Histogram({ count, onChoose }: HistogramProps) {
  const since = Date.parse(count.since);
  const first = since - (since % count.stepMs);
  const places = Math.max(1, Math.ceil((Date.parse(count.until) - first) / count.stepMs));
  const bars = count.buckets.map(({ at, outcomes }) => ({ at: Date.parse(at), parts: byEnding(outcomes) }));
  const most = Math.max(1, ...bars.map(({ parts }) => total(parts)));
  const width = WIDTH / places;
  return (
    <figure className={styles.figure}>
      <svg
        className={styles.chart}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t`${count.total} {call|calls} over time; the numbers follow in a table`}
      >
        {bars.map(({ at, parts }) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the keyboard has the times of the filter instead
          <g
            key={at}
            className={styles.bar}
            onClick={() => onChoose(new Date(at).toISOString(), new Date(at + count.stepMs).toISOString())}
          >
            <title>{describe(at, count.stepMs, parts)}</title>
            <rect
              className={styles.ground}
              x={((at - first) / count.stepMs) * width}
              y={0}
              width={width}
              height={HEIGHT}
            />
            <Stack parts={parts} most={most} x={((at - first) / count.stepMs) * width} width={width} />
          </g>
        ))}
      </svg>
      <figcaption className={styles.legend}>
        <span>{moment(count.since, count.stepMs)}</span>
        {ENDINGS.map(([ending, words]) => (
          <span key={ending} className={styles.key}>
            <span className={classes(styles.swatch, styles[ending])} aria-hidden="true" />
            {words} {sum(count, ending).toLocaleString(language)}
          </span>
        ))}
        <span>{moment(count.until, count.stepMs)}</span>
      </figcaption>
      <div className="visually-hidden">
        <table>
          <caption>{t`Calls over time`}</caption>
          <thead>
            <tr>
              <th scope="col">{t`From`}</th>
              {ENDINGS.map(([ending, words]) => (
                <th key={ending} scope="col">
                  {words}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(({ at, parts }) => (
              <tr key={at}>
                <th scope="row">{moment(new Date(at).toISOString(), count.stepMs)}</th>
                {ENDINGS.map(([ending]) => (
                  <td key={ending}>{parts[ending]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

type Parts = Readonly<Record<Ending, number>>;

interface StackProps {
  readonly parts: Parts;
  readonly most: number;
  readonly x: number;
  readonly width: number;
}

function Stack({ parts, most, x, width }: StackProps) {
  let bottom = HEIGHT;
  return ENDINGS.filter(([ending]) => parts[ending] > 0).map(([ending]) => {
    const height = Math.max(LEAST, (parts[ending] / most) * (HEIGHT - 4 * LEAST));
    bottom -= height;
    return (
      <rect
        key={ending}
        className={styles[ending]}
        x={x + width * 0.08}
        y={bottom}
        width={width * 0.84}
        height={height}
      />
    );
  });
}

function byEnding(outcomes: CallCount["outcomes"]): Parts {
  const parts = { ran: 0, stopped: 0, failed: 0, open: 0 };
  for (const { outcome, calls } of outcomes) parts[endingOf(outcome)] += calls;
  return parts;
}

function total(parts: Parts): number {
  return parts.ran + parts.stopped + parts.failed + parts.open;
}

function sum(count: CallCount, ending: Ending): number {
  return byEnding(count.outcomes)[ending];
}

const DAY_MS = 86_400_000;

function moment(at: string, step: number): string {
  return (step >= DAY_MS ? utcDay : shortMoment).format(Date.parse(at));
}

function describe(at: number, step: number, parts: Parts): string {
  const said = ENDINGS.filter(([ending]) => parts[ending] > 0).map(([ending, words]) => `${words} ${parts[ending]}`);
  return `${moment(new Date(at).toISOString(), step)}: ${said.join(", ")}`;
}
