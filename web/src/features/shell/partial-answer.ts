import type { Conversation } from "../../agent/conversation.ts";
import type { AgentEvent } from "../../agent/events.ts";
import { isObject } from "../../agent/parse.ts";
import type { StoredMessage } from "../../protocol/generated.ts";
import type { KeptTexts, ShellEnvironment } from "./shell-environment.ts";

/** How much of an answer a reload may lose, in time. */
const KEEP_EVERY_MS = 250;
const UNSTOPPED = new AbortController().signal;

/** What has come of an answer that is not complete. It survives a reload in mid-stream: the gateway stores whole answers only. */
export class PartialAnswer {
  readonly #name: string;
  readonly #kept: KeptTexts;
  readonly #wait: ShellEnvironment["wait"];
  #latest: { readonly turnId: string | null; readonly text: string } | null = null;
  #isPlanned = false;

  constructor(conversationId: string, { kept, wait }: Pick<ShellEnvironment, "kept" | "wait">) {
    this.#name = `partial:${conversationId}`;
    this.#kept = kept;
    this.#wait = wait;
  }

  follow(event: AgentEvent, { turnId, streaming }: Conversation): void {
    switch (event.type) {
      case "text:streamed":
        this.#latest = { turnId, text: streaming };
        if (!this.#isPlanned) void this.#keepSoon();
        return;
      case "assistant:said":
        // What was broken off stays until its turn has ended: the gateway may be the reason, and has not stored it then.
        if (event.stopped) this.#keep({ turnId, text: event.content });
        else this.#forget();
        return;
      case "turn:ended":
        if (event.ending !== "failed") this.#forget();
        return;
      case "text:discarded":
      case "turn:begun":
        this.#forget();
    }
  }

  #forget(): void {
    this.#latest = null;
    if (this.#kept.read(this.#name) !== "") this.#kept.write(this.#name, "");
  }

  #keep(latest: { readonly turnId: string | null; readonly text: string }): void {
    this.#latest = null;
    this.#kept.write(this.#name, JSON.stringify(latest));
  }

  /** Storage is slow, and tokens are not. */
  async #keepSoon(): Promise<void> {
    this.#isPlanned = true;
    await this.#wait(KEEP_EVERY_MS, UNSTOPPED);
    this.#isPlanned = false;
    if (this.#latest !== null) this.#keep(this.#latest);
  }

  /** What came of the answer that would follow the last message; null where there is nothing, or something else followed. */
  of(last: StoredMessage | undefined): string | null {
    if (last === undefined || last.role === "assistant") return null;
    try {
      const stored: unknown = JSON.parse(this.#kept.read(this.#name));
      if (!isObject(stored) || stored.turnId !== last.turnId || typeof stored.text !== "string") return null;
      return stored.text;
    } catch {
      return null;
    }
  }
}
