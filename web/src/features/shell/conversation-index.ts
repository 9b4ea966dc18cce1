import { readCommand } from "../../agent/slash.ts";
import { t } from "../../language/t.ts";
import type { Conversation, ConversationForked } from "../../protocol/generated.ts";
import { writeMarkdown } from "./conversation-markdown.ts";
import type { AgentClient } from "./shell-environment.ts";

/** As long as the gateway takes. */
const TITLE_LIMIT = 200;
const COPY_SUFFIX = t` (copy)`;
const TITLE_LENGTH = 60;

/** The stored conversations that this page knows of, newest first, fetched one page at a time. */
export class ConversationIndex {
  readonly #client: AgentClient;
  #conversations: readonly Conversation[] | null = null;
  #nextCursor: string | undefined;
  /** What conversations are called in which nothing was asked yet: the page answered a command. */
  readonly #unasked = new Map<string, string>();

  constructor(client: AgentClient) {
    this.#client = client;
  }

  /** Null until the first page is here. */
  get conversations(): readonly Conversation[] | null {
    return this.#conversations;
  }

  get hasMore(): boolean {
    return this.#nextCursor !== undefined;
  }

  find(id: string | null): Conversation | undefined {
    return this.#conversations?.find((each) => each.id === id);
  }

  /** The newest page, in front of what was already fetched of the older ones. */
  async loadNewest(): Promise<void> {
    const { conversations, nextCursor } = await this.#client.call("conversations/list", {});
    const isFirst = this.#conversations === null;
    const fresh = new Set(conversations.map(({ id }) => id));
    this.#conversations = [...conversations, ...(this.#conversations?.filter(({ id }) => !fresh.has(id)) ?? [])];
    if (isFirst) this.#nextCursor = nextCursor;
  }

  async loadOlder(): Promise<void> {
    if (this.#nextCursor === undefined) return;
    const page = await this.#client.call("conversations/list", { cursor: this.#nextCursor });
    this.#conversations = [...(this.#conversations ?? []), ...page.conversations];
    this.#nextCursor = page.nextCursor;
  }

  /** Stores a conversation as the gateway has just described it: in its place, or in front when it is new. */
  put(conversation: Conversation): void {
    const known = this.#conversations ?? [];
    this.#conversations = known.some(({ id }) => id === conversation.id)
      ? known.map((each) => (each.id === conversation.id ? conversation : each))
      : [conversation, ...known];
  }

  /** Stores conversations where they belong by their last use. */
  putInOrder(conversations: readonly Conversation[]): void {
    for (const each of conversations) this.put(each);
    this.#conversations =
      this.#conversations?.toSorted((one, other) => other.updatedAt.localeCompare(one.updatedAt)) ?? null;
  }

  /** A new conversation, named after what it begins with. */
  async create(text: string): Promise<Conversation> {
    const { conversation } = await this.#client.call("conversations/open", { title: titleFrom(text) });
    if (!asksSomething(text)) this.#unasked.set(conversation.id, conversation.title);
    this.put(conversation);
    return conversation;
  }

  /** Name a conversation that began with a command to the page after the first thing that is asked in it. */
  async nameAfter(id: string, text: string): Promise<void> {
    const title = this.#unasked.get(id);
    if (title === undefined || !asksSomething(text)) return;
    this.#unasked.delete(id);
    if (this.find(id)?.title === title) await this.rename(id, titleFrom(text));
  }

  async rename(id: string, title: string): Promise<void> {
    const { conversation } = await this.#client.call("conversations/rename", {
      conversationId: id,
      title: plainTitle(title),
    });
    this.put(conversation);
  }

  /** Deletes a conversation; a turn that is open in it is cancelled first. */
  async delete(id: string): Promise<void> {
    const { openTurn } = await this.#client.call("conversations/open", { conversationId: id });
    if (openTurn !== undefined)
      await this.#client.call("turns/cancel", { conversationId: id, turnId: openTurn.turnId });
    await this.#client.call("conversations/delete", { conversationId: id });
    this.#conversations = this.#conversations?.filter((each) => each.id !== id) ?? null;
  }

  /** A new conversation with all messages of this one, under a title that tells them apart. Gives its id. */
  async copy(id: string): Promise<string> {
    // Another tab may have added turns since the list was fetched.
    await this.loadNewest();
    const original = this.find(id);
    const turns = (original?.inheritedTurns ?? 0) + (original?.turnCount ?? 0);
    const title = beginningOf(original?.title ?? "", TITLE_LIMIT - COPY_SUFFIX.length) + COPY_SUFFIX;
    return (await this.fork(id, turns, title)).conversation.id;
  }

  /**
   * A new conversation with what was before the turn with index `fromTurn`, under another title if one is given. A title that
   * another conversation has gets a number, so that branches are told apart wherever they are listed.
   */
  async fork(id: string, fromTurn: number, title: string | null): Promise<ConversationForked> {
    const taken = new Set(this.#conversations?.map((each) => each.title));
    const forked = await this.#client.call("conversations/fork", { conversationId: id, fromTurn });
    this.put(forked.conversation);
    const wanted = title ?? forked.conversation.title;
    const free = wanted === "" ? "" : numbered(wanted, taken);
    if (free !== forked.conversation.title) await this.rename(forked.conversation.id, free);
    return forked;
  }

  /** A conversation as the text of a file: all that the gateway has of it as JSON, or what people read as Markdown. */
  async export(id: string, format: "json" | "md"): Promise<string> {
    const exported = await this.#client.call("conversations/export", { conversationId: id });
    return format === "json" ? `${JSON.stringify(exported, null, 2)}\n` : writeMarkdown(exported);
  }
}

/** What a conversation that begins with this text is called. */
export function titleFrom(text: string): string {
  const typed = text.split("\n", 1)[0] ?? "";
  const firstLine = readCommand(text).kind === "message" ? typed : titleOfCommand(typed);
  return firstLine.length > TITLE_LENGTH ? `${beginningOf(firstLine, TITLE_LENGTH - 1)}…` : firstLine;
}

/** Whether something is asked of a model or a tool by it, and not of the page alone. */
function asksSomething(text: string): boolean {
  const { kind } = readCommand(text);
  return kind === "message" || kind === "call";
}

/** A title that no other has: itself, or with the first free number behind it. */
function numbered(title: string, taken: ReadonlySet<string>): string {
  if (!taken.has(title)) return title;
  const bare = title.replace(/ \(\d+\)$/, "");
  for (let number = 2; ; number++) {
    const suffix = ` (${number})`;
    const next = beginningOf(bare, TITLE_LIMIT - suffix.length) + suffix;
    if (!taken.has(next)) return next;
  }
}

/** At most so many characters of a text. An emoji is two of JavaScript's, and half of one is none that can be sent. */
function beginningOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}

/** The title on one line without what is not seen, as the gateway takes it; what joins emoji and letters stays. */
function plainTitle(title: string): string {
  return title.replaceAll(/\s+/g, " ").replaceAll(/(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
}

/** A command is no title: what it does is, in English; pages show it in their language. */
function titleOfCommand(typed: string): string {
  const [command = "", name] = typed.slice(1).split(/\s+/);
  if (name === undefined || name === "") return `${command.charAt(0).toUpperCase()}${command.slice(1)}`;
  if (command === "call") return `Call of ${name}`;
  return command === "inspect" ? `The tool ${name}` : typed.slice(1);
}
