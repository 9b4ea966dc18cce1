import type { Conversation, Entry } from "../../agent/conversation.ts";
import { copy } from "../../agent/copy.ts";
import type { AgentEvent } from "../../agent/events.ts";
import { isObject } from "../../agent/parse.ts";
import type { StoredMessage } from "../../protocol/generated.ts";
import type { KeptTexts } from "./shell-environment.ts";

interface Ending {
  readonly turnId: string;
  /** The answer was stopped in the middle of its text. */
  readonly stopped: boolean;
  /** What the page said before the answer, and after everything. */
  readonly before: string;
  readonly after: string;
}

/**
 * That the last turn of a conversation ended before it was done, and what was left to do. It survives a reload, and with it the
 * way to go on: the gateway stores what was said, and not that more was to come.
 */
export class LastEnding {
  readonly #name: string;
  readonly #kept: KeptTexts;

  constructor(conversationId: string, kept: KeptTexts) {
    this.#name = `ending:${conversationId}`;
    this.#kept = kept;
  }

  follow(event: AgentEvent, { entries, turnIds }: Conversation): void {
    if (event.type === "turn:begun") this.#write("");
    if (event.type !== "turn:ended") return;
    const last = entries.at(-1);
    const stopped = last?.kind === "assistant" && last.stopped;
    const before = noticeOf(entries.at(-2), copy.cutShort);
    const after = noticeOf(last, copy.stopped);
    const isWhole = !stopped && before === "" && after === "";
    this.#write(
      isWhole ? "" : JSON.stringify({ turnId: turnIds.at(-1) ?? "", stopped, before, after } satisfies Ending),
    );
  }

  /** A conversation out of what is stored, with how its last turn ended. */
  restore(log: Conversation, last: StoredMessage | undefined): Conversation {
    const kept = this.#read();
    if (last === undefined || kept.turnId !== last.turnId) return log;
    const [stopped, before, after] = [kept.stopped === true, String(kept.before), String(kept.after)];
    const entries = [...log.entries];
    const answer = entries.at(-1);
    if (answer?.kind === "assistant") {
      entries.pop();
      if (before !== "") entries.push(notice("before", before));
      entries.push({ ...answer, stopped });
    }
    if (after !== "") entries.push(notice("after", after));
    return { ...log, entries };
  }

  #write(text: string): void {
    if (this.#kept.read(this.#name) !== text) this.#kept.write(this.#name, text);
  }

  /** Anything may stand in a browser's storage. */
  #read(): Record<string, unknown> {
    try {
      const stored: unknown = JSON.parse(this.#kept.read(this.#name));
      return isObject(stored) ? stored : {};
    } catch {
      return {};
    }
  }
}

/** The text of a notice that begins with these words; empty for anything else. */
function noticeOf(entry: Entry | undefined, beginning: string): string {
  return entry?.kind === "notice" && entry.text.startsWith(beginning) ? entry.text : "";
}

function notice(place: string, text: string): Entry {
  return { key: `ending-${place}`, kind: "notice", tone: "info", text };
}
