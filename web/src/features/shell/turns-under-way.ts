import { isObject } from "../../agent/parse.ts";
import type { KeptTexts } from "./shell-environment.ts";

const NAME = "turns-under-way";

/** A page that goes down each time it takes a turn up again must not do so for ever. */
const MOST_TIMES = 3;

interface Mark {
  readonly turnId: string;
  /** How often it was taken up again. */
  readonly times: number;
}

/**
 * Which turns this tab runs, by conversation. It survives a reload of the tab and no more: in another tab, and on another device,
 * it is for the person to say whether a turn goes on there.
 */
export class TurnsUnderWay {
  readonly #kept: KeptTexts;

  constructor(keptInTab: KeptTexts) {
    this.#kept = keptInTab;
  }

  get conversationIds(): readonly string[] {
    return [...this.#read().keys()];
  }

  begin(conversationId: string, turnId: string): void {
    const marks = this.#read();
    const times = marks.get(conversationId)?.turnId === turnId ? (marks.get(conversationId)?.times ?? 0) : 0;
    this.#write(marks.set(conversationId, { turnId, times }));
  }

  end(conversationId: string): void {
    const marks = this.#read();
    if (marks.delete(conversationId)) this.#write(marks);
  }

  /** Whether this tab ran the turn, and may take it up by itself once more. */
  takeUp(conversationId: string, turnId: string): boolean {
    const marks = this.#read();
    const mark = marks.get(conversationId);
    if (mark?.turnId !== turnId || mark.times >= MOST_TIMES) return false;
    this.#write(marks.set(conversationId, { turnId, times: mark.times + 1 }));
    return true;
  }

  /** Anything may stand in a browser's storage. */
  #read(): Map<string, Mark> {
    try {
      const stored: unknown = JSON.parse(this.#kept.read(NAME));
      return new Map(isObject(stored) ? Object.entries(stored).filter(isMark) : []);
    } catch {
      return new Map();
    }
  }

  #write(marks: ReadonlyMap<string, Mark>): void {
    this.#kept.write(NAME, marks.size === 0 ? "" : JSON.stringify(Object.fromEntries(marks)));
  }
}

function isMark(entry: [string, unknown]): entry is [string, Mark] {
  const [, mark] = entry;
  return isObject(mark) && typeof mark.turnId === "string" && typeof mark.times === "number";
}
