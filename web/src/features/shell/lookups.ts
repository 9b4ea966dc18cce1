import { isObject } from "../../agent/parse.ts";
import type { ToolDescriptor } from "../../protocol/generated.ts";
import type { FolderEntry } from "./completion.ts";
import type { AgentClient, KeptTexts, ShellEnvironment } from "./shell-environment.ts";

/** The published tool that lists a folder. It is called like any other: judged, counted and on record. */
const LISTER = "list_directory";
const KEPT_AS = "lookups";
/** How long an answer is good for. Somebody who types `@` again means the folder as it was a moment ago. */
const FRESH_MS = 15_000;
/** A listing that takes longer is given up, so that no question is left waiting for a person who only typed. */
const PATIENCE_MS = 4_000;
const MOST_KEPT = 50;

export type LookUpClient = Pick<AgentClient, "call">;

/**
 * What the message box looks up while somebody writes: tools, and folders of the workspace. Folders are listed in a conversation
 * of its own, so that what stands in them comes to no other conversation, and no turn under way is ended.
 */
export class Lookups {
  readonly #client: LookUpClient;
  readonly #kept: KeptTexts;
  readonly #environment: Pick<ShellEnvironment, "now" | "wait" | "newCallId">;
  readonly #answers = new Map<string, { readonly at: number; readonly answer: Promise<unknown> }>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: LookUpClient, environment: Pick<ShellEnvironment, "kept" | "now" | "wait" | "newCallId">) {
    this.#client = client;
    this.#kept = environment.kept;
    this.#environment = environment;
  }

  /** The conversation that folders are listed in; it is no conversation of the person's. Empty before there is one. */
  get conversationId(): string {
    return this.#kept.read(KEPT_AS);
  }

  /** The tools that may be called by name. */
  tools(conversationId: string | null): Promise<readonly ToolDescriptor[]> {
    return this.#remember(`tools:${conversationId}`, async () => {
      const place = conversationId ?? (await this.#place());
      const { tools } = await this.#client.call("tools/describe", { conversationId: place });
      return tools.filter(({ local, permission }) => local !== true && permission !== "forbidden");
    });
  }

  /** What is in a folder; nothing where that cannot be read at once. */
  folder(path: string): Promise<readonly FolderEntry[]> {
    return this.#remember(`folder:${path}`, () => {
      // One after the other: a conversation has one turn at a time.
      const listing = this.#last.then(() => this.#list(path));
      this.#last = listing.catch(() => undefined);
      return listing;
    });
  }

  #remember<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const now = this.#environment.now();
    const known = this.#answers.get(key);
    if (known !== undefined && now - known.at < FRESH_MS) return known.answer as Promise<T>;
    const answer = ask();
    answer.catch(() => this.#answers.delete(key));
    if (this.#answers.size >= MOST_KEPT) this.#answers.clear();
    this.#answers.set(key, { at: now, answer });
    return answer;
  }

  async #place(): Promise<string> {
    const known = this.conversationId;
    if (known !== "") {
      try {
        return (await this.#client.call("conversations/open", { conversationId: known })).conversation.id;
      } catch {
        // Deleted since, or another person's: a new one is opened below.
      }
    }
    const { conversation } = await this.#client.call("conversations/open", { title: "Folders looked up while typing" });
    this.#kept.write(KEPT_AS, conversation.id);
    return conversation.id;
  }

  async #list(path: string): Promise<readonly FolderEntry[]> {
    const conversationId = await this.#place();
    const { snapshot } = await this.#client.call("turns/begin", { conversationId });
    try {
      const tool = snapshot.tools.find(({ name, category }) => name === LISTER && category === "read");
      // Completing a word is no reason to ask a person for permission.
      if (tool?.permission !== "auto") return [];
      const call = { id: this.#environment.newCallId(), name: LISTER, arguments: { path } };
      const done = new AbortController();
      const late = this.#environment.wait(PATIENCE_MS, done.signal).then(() => null);
      late.catch(() => undefined);
      const asked = this.#client.call("tools/invoke", {
        conversationId,
        turnId: snapshot.turnId,
        snapshotId: snapshot.id,
        snapshotDigest: snapshot.digest,
        call,
      });
      const result = await Promise.race([asked, late]);
      done.abort();
      if (result === null) {
        asked.catch(() => undefined);
        await this.#client.call("tools/cancel", { conversationId, callId: call.id });
      }
      return result?.outcome === "ok" ? readEntries(result.structured) : [];
    } finally {
      await this.#client.call("turns/end", { conversationId, turnId: snapshot.turnId }).catch(() => undefined);
    }
  }
}

function readEntries(structured: unknown): FolderEntry[] {
  const entries = isObject(structured) ? structured.entries : null;
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((each: unknown) =>
    isObject(each) && typeof each.name === "string" ? [{ name: each.name, isFolder: each.kind === "folder" }] : [],
  );
}
