import { isObject } from "../../../agent/parse.ts";
import { t } from "../../../language/t.ts";
import type { Conversation, ConversationImport } from "../../../protocol/generated.ts";
import { errorSentence } from "../../../ui/error-sentence.ts";
import type { ShellEnvironment } from "../shell-environment.ts";

/** What became of each conversation that was to be imported. */
export interface Imported {
  readonly taken: readonly Conversation[];
  /** In words, with the title of what was not taken. */
  readonly problems: readonly string[];
}

/** Have the gateway take conversations over, one after the other. What will not work for any other one either ends it. */
export async function sendImports(
  environment: Pick<ShellEnvironment, "fetch">,
  bodies: readonly ConversationImport[],
  signal: AbortSignal,
  onTaken: (count: number) => void,
): Promise<Imported> {
  const taken: Conversation[] = [];
  const problems: string[] = [];
  for (const body of bodies) {
    const answer = await send(environment, body, signal);
    if (typeof answer !== "string") taken.push(answer);
    else if (signal.aborted) break;
    else problems.push(`${body.title || t`Untitled`}: ${answer}`);
    onTaken(taken.length);
  }
  return { taken, problems };
}

async function send(
  { fetch }: Pick<ShellEnvironment, "fetch">,
  body: ConversationImport,
  signal: AbortSignal,
): Promise<Conversation | string> {
  try {
    const answer = await fetch("/conversations/import", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
    const told: unknown = JSON.parse(await answer.text());
    if (answer.ok && isObject(told)) return told.conversation as Conversation;
    return explain(answer.status, told);
  } catch {
    return t`the gateway did not answer.`;
  }
}

function explain(status: number, told: unknown): string {
  if (status === 401) return t`sign in first.`;
  if (status === 413) return t`it is too long.`;
  const { error } = isObject(told) ? told : {};
  if (!isObject(error) || typeof error.message !== "string") return t`the gateway refused it.`;
  const word = error.reason ?? error.code;
  return errorSentence(typeof word === "string" ? word : undefined, error.message);
}
