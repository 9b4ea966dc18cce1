import { createParser } from "eventsource-parser";
import type { InferenceToken } from "../protocol/generated.ts";
import { isObject } from "./parse.ts";

/** JSON Schema, as far as this code needs to know. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One message of an OpenAI-compatible request. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
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

/** A piece of a reply. Tool calls come in fragments, `index` says which call a fragment belongs to. */
export type ChatDelta =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly index: number; readonly name?: string; readonly arguments?: string }
  | { readonly kind: "usage"; readonly promptTokens: number; readonly completionTokens: number };

/** Asks a model and streams what it says. Throws `ChatFailure`, or the signal's reason. */
export type Chat = (request: ChatRequest) => AsyncIterable<ChatDelta>;

export type ChatFailureKind =
  /** The token is void: expired, or its turn is over. */
  | "unauthorised"
  /** No model can answer now; `state` is the gateway's word for why. */
  | "modelUnavailable"
  /** Nothing came back, or it broke off in the middle. */
  | "unreachable"
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
    if (!response.ok) throw failureOf(response.status, await response.text().catch(() => ""));
    if (response.body === null) throw new ChatFailure("unreachable", "the reply has no body");
    yield* readEvents(response.body, signal);
  };
}

function completionsOf(endpoint: string): string {
  return endpoint.endsWith("/chat/completions") ? endpoint : `${endpoint.replace(/\/$/, "")}/chat/completions`;
}

function bodyOf(request: ChatRequest, model: string): Record<string, unknown> {
  return {
    model,
    messages: request.messages,
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

async function* readEvents(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncIterable<ChatDelta> {
  const events: string[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event.data) });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let complete = false;
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const data of events.splice(0)) {
        if (data === "[DONE]") complete = true;
        else yield* readChunk(data);
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ChatFailure ? error : new ChatFailure("unreachable", String(error));
  } finally {
    // Also when whoever reads has had enough: the gateway then stops the model.
    reader.cancel().catch(() => undefined);
  }
  if (!complete) throw new ChatFailure("unreachable", "the reply broke off");
}

function* readChunk(data: string): Iterable<ChatDelta> {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    throw new ChatFailure("unreachable", "the reply is garbled");
  }
  if (!isObject(chunk)) return;
  if (isObject(chunk.error)) throw errorOf(chunk.error, 502);
  const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  const delta = isObject(choice) && isObject(choice.delta) ? choice.delta : {};
  if (typeof delta.content === "string" && delta.content !== "") yield { kind: "text", text: delta.content };
  if (Array.isArray(delta.tool_calls)) {
    for (const [place, call] of delta.tool_calls.entries()) {
      if (!isObject(call)) continue;
      const named = isObject(call.function) ? call.function : {};
      yield {
        kind: "call",
        index: Number.isInteger(call.index) ? (call.index as number) : place,
        ...(typeof named.name === "string" && { name: named.name }),
        ...(typeof named.arguments === "string" && { arguments: named.arguments }),
      };
    }
  }
  if (isObject(chunk.usage)) {
    const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = chunk.usage;
    if (typeof promptTokens === "number" && typeof completionTokens === "number")
      yield { kind: "usage", promptTokens, completionTokens };
  }
}

function failureOf(status: number, body: string): ChatFailure {
  try {
    const parsed: unknown = JSON.parse(body);
    if (isObject(parsed) && isObject(parsed.error)) return errorOf(parsed.error, status);
  } catch {
    // Not ours: a proxy between us. The status says enough.
  }
  return errorOf({}, status);
}

function errorOf(error: Record<string, unknown>, status: number): ChatFailure {
  const message = typeof error.message === "string" ? error.message : `status ${status}`;
  const state = typeof error.reason === "string" ? error.reason : undefined;
  if (status === 401 || status === 403) return new ChatFailure("unauthorised", message);
  if (status === 503 || error.code === "model_unavailable") return new ChatFailure("modelUnavailable", message, state);
  if (status >= 500) return new ChatFailure("unreachable", message);
  return new ChatFailure("refused", message);
}
