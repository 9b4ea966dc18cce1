import { ClaimJudge, isShortAnswer, type TurnRecord, withoutFalseClaims } from "./claims.ts";
import { copy, explainOutcome } from "./copy.ts";
import { fill } from "./fill.ts";
import type { ReadingTool } from "./reading.ts";
import { sentencesOf } from "./sentences.ts";
import { unreadFile, withoutContent } from "./unread.ts";

type ReadableRecord = TurnRecord & { readonly tools: readonly ReadingTool[] };

/** Outcomes of a call that was made, or that the model got wrong and may have made again. */
const NOT_REFUSED: ReadonlySet<string> = new Set(["ok", "invalidArguments", "unknownTool", "executionError"]);

/**
 * A text without what it claims and no call did, and without what it tells of a file that was not read. Where nothing is left, the
 * loop says so in its own words, and names what was refused rather than what was done. What it says itself of a call that did not run stays.
 */
export function holdToRecord(text: string, record: ReadableRecord): string {
  const { message, earlier, closed, tools, wish = message } = record;
  const own = ownWords(text, record);
  if (own !== "") {
    const at = text.indexOf(own);
    const [before, after] = [text.slice(0, at), text.slice(at + own.length)];
    const parts = [withoutFalseClaims(before, record).trim(), own, withoutFalseClaims(after, record).trim()];
    return parts.filter((each) => each !== "").join("\n\n");
  }
  const file = unreadFile(wish, [...earlier, ...closed], tools);
  const told = file === null || text.trim() === "" ? text : withoutContent(text, closed);
  const kept = withoutFalseClaims(told, record);
  if (file !== null && told !== text) {
    const unread = fill(copy.unread, () => file);
    return kept === "" ? unread : `${kept}\n\n${unread}`;
  }
  if (kept.trim() !== "" || kept === text) return kept;
  const refused = closed.filter(({ result }) => !NOT_REFUSED.has(result.outcome));
  if (refused.length > 0)
    return [...new Set(refused.map((each) => explainOutcome(each.call.name, each.result)))].join("\n\n");
  const last = closed.findLast(({ result }) => result.outcome === "ok") ?? closed.at(-1);
  return last === undefined ? copy.unrecorded : explainOutcome(last.call.name, last.result);
}

/** The sentence of the loop's own about a call without a result that stands in a text; empty where there is none. */
function ownWords(text: string, { closed }: ReadableRecord): string {
  const stopped = closed.filter(({ result }) => result.outcome !== "ok");
  return stopped.map(({ call, result }) => explainOutcome(call.name, result)).find((own) => text.includes(own)) ?? "";
}

/**
 * How much of a text that is still being written may be shown already: what stands before the first sentence in doubt. Where a
 * change was asked for and none is on record, a sentence is in doubt until it is whole.
 */
export class ShownBeginning {
  readonly #judge: ClaimJudge;
  readonly #isUnread: boolean;
  #sure = 0;

  constructor(record: ReadableRecord) {
    this.#judge = new ClaimJudge(record);
    const { wish = record.message, earlier, closed, tools } = record;
    this.#isUnread = unreadFile(wish, [...earlier, ...closed], tools) !== null;
  }

  /** Its length. Each text goes on where the one before ended. */
  lengthOf(text: string): number {
    if (this.#isUnread) return 0;
    const isShort = isShortAnswer(text);
    for (const sentence of sentencesOf(text.slice(this.#sure))) {
      const isWhole = /\s$/.test(sentence);
      if ((this.#judge.isUndone && !isWhole) || this.#judge.isFalse(sentence, isShort)) return this.#sure;
      if (isWhole) this.#sure += sentence.length;
    }
    return text.length;
  }
}
