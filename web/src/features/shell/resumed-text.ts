import type { AgentEvent } from "../../agent/events.ts";

/**
 * What a page had shown of an answer before it was loaded again. It stays on the screen until the answer, which is asked for once
 * more, has come as far: mostly the gateway has kept it and it is the same text.
 */
export class ResumedText {
  #shown = "";
  #heard = "";

  /** The events that show it. */
  begin(shown: string): readonly AgentEvent[] {
    this.#shown = shown;
    this.#heard = "";
    return shown === "" ? [] : [{ type: "text:streamed", delta: shown }];
  }

  /** What an event of the loop is for the screen. */
  translate(event: AgentEvent): readonly AgentEvent[] {
    if (this.#shown === "") return [event];
    switch (event.type) {
      case "text:streamed":
        return this.#hear(event.delta);
      case "text:discarded":
        this.#heard = "";
        return [];
      case "assistant:said": {
        const shown = this.#take();
        // Stopped before it came as far: what was read already was said.
        return [event.stopped && shown.startsWith(event.content) ? { ...event, content: shown } : event];
      }
      case "call:proposed":
        this.#take();
        return [{ type: "text:discarded" }, event];
      case "turn:ended":
        return [{ type: "assistant:said", content: this.#take(), stopped: true }, event];
      default:
        return [event];
    }
  }

  #hear(delta: string): readonly AgentEvent[] {
    this.#heard += delta;
    if (this.#shown.startsWith(this.#heard)) return [];
    const heard = this.#heard;
    const shown = this.#take();
    if (heard.startsWith(shown)) return [{ type: "text:streamed", delta: heard.slice(shown.length) }];
    // Another answer than the one that had begun.
    return [{ type: "text:discarded" }, { type: "text:streamed", delta: heard }];
  }

  #take(): string {
    const shown = this.#shown;
    this.#shown = "";
    return shown;
  }
}
