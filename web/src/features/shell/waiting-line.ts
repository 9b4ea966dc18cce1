import { language } from "../../language/language.ts";
import type { OpenConversation } from "./open-conversation.ts";

/** What the line needs of the page around it. */
export interface LineSurroundings {
  /** A conversation that this page has open; the one on the screen for null. */
  conversation(id: string | null): OpenConversation | undefined;
  /** Send a text as the next message of a conversation. Gives whether it was taken. */
  send(text: string, conversation: OpenConversation): Promise<boolean>;
  /** Put a text into the message box. */
  offer(text: string): void;
  changed(): void;
}

/** Words that begin what is meant for the work under way, not for the time after it. A German "also" means "so". */
const ALSO = language === "de" ? /^(?:und\s+)?(?:auch|außerdem)\b/i : /^(?:and\s+)?also\b/i;

/** What the person has written while an answer is under way, and what is done with it. */
export class WaitingLine {
  readonly #around: LineSurroundings;

  constructor(around: LineSurroundings) {
    this.#around = around;
  }

  /** Put a text in line; one that begins with "also" is taken in before the next step. */
  add(text: string, { queue }: OpenConversation): void {
    queue.add(text);
    if (ALSO.test(text)) queue.steer(queue.texts.length - 1);
    this.#around.changed();
  }

  /** Have it taken in before the next step of the turn under way. */
  steer(place: number): void {
    const current = this.#around.conversation(null);
    if (current?.busy) current.queue.steer(place);
    this.#around.changed();
  }

  /** Take it back into the message box. */
  edit(place: number): void {
    const text = this.#around.conversation(null)?.queue.take(place);
    if (text !== undefined) this.#around.offer(text);
  }

  remove(place: number): void {
    this.#around.conversation(null)?.queue.take(place);
    this.#around.changed();
  }

  /** Send what waits longest in a conversation. If that cannot be, it waits on. */
  async sendNext(id: string | null): Promise<void> {
    const conversation = this.#around.conversation(id);
    if (conversation === undefined || conversation.busy) return;
    const text = conversation.queue.take(0);
    if (text === undefined) return;
    if (!(await this.#around.send(text, conversation))) conversation.queue.putBack(text);
    this.#around.changed();
  }
}
