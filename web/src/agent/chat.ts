import type { InferenceToken } from "../protocol/generated.ts";
import { CompletionStream, readFailure } from "./completion-stream.ts";
import type { CallDelta } from "./stream-calls.ts";

/** JSON Schema, as far as this code needs to know. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One message of an OpenAI-compatible request. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  /** The id of an image that is shown with it. */
  readonly image?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: "function";
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

export interface DeclaredTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema };
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly DeclaredTool[];
  /** Constrains the whole reply, where the runtime can; else it is ignored. */
  readonly schema?: JsonSchema;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly signal: AbortSignal;
}

/** Why a reply is not all that the model would have written. */
export type CutReason =
  /** It came to the most tokens of one step. */
  | "length"
  /** Whoever runs the model held the rest back. */
  | "filtered"
  /** It has more calls than are taken from one reply. */
  | "calls";

/** A piece of a reply. Tool calls come in fragments. */
export type ChatDelta =
  | { readonly kind: "text"; readonly text: string }
  | CallDelta
  /** The reply ends here, and is not whole. */
  | { readonly kind: "cut"; readonly why: CutReason }
  | { readonly kind: "usage"; readonly promptTokens: number; readonly completionTokens: number };

/** Asks a model and streams what it says. Throws `ChatFailure`, or the signal's reason. */
export type Chat = (request: ChatRequest) => AsyncIterable<ChatDelta>;

export type ChatFailureKind =
  /** The token is void: expired, or its turn is over. */
  | "unauthorised"
  /** No model can answer now; `state` is the gateway's word for why. */
  | "modelUnavailable"
  /** Nothing came back, or nothing that can be read. */
  | "unreachable"
  /** A reply began, and ended in the middle. */
  | "brokeOff"
  /** The model server reported an error of its own. */
  | "failed"
  /** The request itself was refused; asking again changes nothing. */
  | "refused";

export class ChatFailure extends Error {
  override readonly name = "ChatFailure";
  readonly kind: ChatFailureKind;
  readonly state: string | undefined;

  constructor(kind: ChatFailureKind, message: string, state?: string) {
    super(message);
    this.kind = kind;
    this.state = state;
  }
}

/** The part of `fetch` that is used. */
export type Fetch = (
  url: string,
  init: { method: "POST"; headers: Record<string, string>; body: string; signal: AbortSignal },
) => Promise<{
  readonly ok: boolean;
  readonly status: number;
  readonly body: ReadableStream<Uint8Array> | null;
  text(): Promise<string>;
}>;

/** Chat over `POST {endpoint}/chat/completions` with a token of `inference/token`. */
export function chatOver(fetch: Fetch, token: InferenceToken): Chat {
  return async function* chat(request) {
    const { signal } = request;
    const response = await fetch(completionsOf(token.endpoint), {
      method: "POST",
      headers: { Authorization: `Bearer ${token.token}`, "Content-Type": "application/json" },
      body: JSON.stringify(bodyOf(request, token.modelId)),
      signal,
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new ChatFailure("unreachable", String(error));
    });
    if (!response.ok) throw readFailure(response.status, await response.text().catch(() => ""));
    if (response.body === null) throw new ChatFailure("unreachable", "the reply has no body");
    yield* readBody(response.body, signal);
  };
}

function completionsOf(endpoint: string): string {
  return endpoint.endsWith("/chat/completions") ? endpoint : `${endpoint.replace(/\/$/, "")}/chat/completions`;
}

function bodyOf(request: ChatRequest, model: string): Record<string, unknown> {
  return {
    model,
    messages: request.messages.map(withImage),
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: request.maxTokens,
    temperature: request.temperature,
    ...(request.tools && request.tools.length > 0 && { tools: request.tools }),
    ...(request.schema && {
      response_format: { type: "json_schema", json_schema: { name: "step", strict: true, schema: request.schema } },
    }),
  };
}

/** An image is named by the id of what was attached: the gateway puts in the bytes. */
function withImage({ image, ...message }: ChatMessage): object {
  if (image === undefined) return message;
  const shown = { type: "image_url", image_url: { url: `attachment:${image}` } };
  return { ...message, content: [{ type: "text", text: message.content }, shown] };
}

async function* readBody(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncIterable<ChatDelta> {
  const reply = new CompletionStream();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      yield* reply.feed(decoder.decode(value, { stream: true }));
    }
    yield* reply.finish();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ChatFailure ? error : new ChatFailure("unreachable", String(error));
  } finally {
    // Also when whoever reads has had enough: the gateway then stops the model.
    reader.cancel().catch(() => undefined);
  }
}
