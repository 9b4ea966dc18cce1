import type { Conversation, ConversationExport } from "../../protocol/generated.ts";
import type { ConversationIndex } from "./conversation-index.ts";
import { type SearchResult, searchMessages } from "./message-search.ts";
import type { OpenConversations } from "./open-conversations.ts";
import type { AgentClient, ShellEnvironment } from "./shell-environment.ts";

export interface LibraryParts {
  readonly client: Pick<AgentClient, "call">;
  readonly index: ConversationIndex;
  readonly opened: OpenConversations;
  readonly environment: Pick<ShellEnvironment, "saveFile">;
  currentId(): string | null;
  open(id: string | null): Promise<void>;
  /** Nothing is kept any more of what was chosen for a conversation. */
  forget(id: string): void;
  /** Does something that may fail, and says so in words if it does. Gives whether it was done. */
  attempt(work: () => Promise<unknown>): Promise<boolean>;
}

/** What a person does with whole conversations: give them names, copy, save and delete them. */
export class Library {
  readonly #parts: LibraryParts;

  constructor(parts: LibraryParts) {
    this.#parts = parts;
  }

  rename(id: string, title: string): Promise<boolean> {
    return this.#parts.attempt(() => this.#parts.index.rename(id, title));
  }

  async delete(id: string): Promise<void> {
    const { index, opened, currentId, open, forget, attempt } = this.#parts;
    await attempt(async () => {
      const conversation = opened.get(id);
      await conversation?.stop();
      await index.delete(id);
      conversation?.queue.clear();
      opened.close(id);
      forget(id);
      if (currentId() === id) await open(null);
    });
  }

  /** Show a copy of a conversation, to go on in it without changing the original. */
  async continueInCopy(id: string): Promise<void> {
    const { index, open, attempt } = this.#parts;
    await attempt(async () => open(await index.copy(id)));
  }

  /** Save a conversation as a file: all that is known of it as JSON, or what people read as Markdown. */
  async export(id: string, format: "json" | "md"): Promise<void> {
    const { index, environment, attempt } = this.#parts;
    await attempt(async () => {
      const text = await index.export(id, format);
      environment.saveFile(`${fileNameOf(index.find(id)?.title ?? "") || `conversation-${id}`}.${format}`, text);
    });
  }

  /** Put conversations into the list that the gateway has just taken over, and show the only one. */
  async show(imported: readonly Conversation[]): Promise<void> {
    this.#parts.index.putInOrder(imported);
    const [first] = imported;
    await this.#parts.open(imported.length === 1 && first !== undefined ? first.id : this.#parts.currentId());
  }

  /** All that is stored of some conversations; null, with the reason said, where one cannot be had. */
  async read(ids: readonly string[]): Promise<readonly ConversationExport[] | null> {
    let read: readonly ConversationExport[] | null = null;
    await this.#parts.attempt(async () => {
      const { client } = this.#parts;
      read = await Promise.all(ids.map((conversationId) => client.call("conversations/export", { conversationId })));
    });
    return read;
  }

  /** One more page of what was said with all of these words in it; null, with the reason said, where it cannot be had. */
  async search(words: readonly string[], before?: SearchResult): Promise<SearchResult | null> {
    let result: SearchResult | null = null;
    await this.#parts.attempt(async () => {
      result = await searchMessages(this.#parts.client, words, before);
    });
    return result;
  }

  loadOlder(): Promise<boolean> {
    return this.#parts.attempt(() => this.#parts.index.loadOlder());
  }
}

const NAME_LENGTH = 60;

/** A title as the name of a file on any system: letters and digits of any script, with single hyphens for all else. */
function fileNameOf(title: string): string {
  return title
    .normalize("NFC")
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-")
    .slice(0, NAME_LENGTH)
    .replace(/^-+|-+$/g, "");
}
