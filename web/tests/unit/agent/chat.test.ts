import { describe, expect, test } from "vitest";
import { type ChatDelta, ChatFailure, type ChatRequest, chatOver, type Fetch } from "../../../src/agent/chat.ts";
import type { InferenceToken } from "../../../src/protocol/generated.ts";

const token: InferenceToken = {
  token: "secret",
  endpoint: "/v1",
  provider: "sidecar",
  modelId: "sha256:small",
  expiresAt: "2026-11-21T10:05:00.000Z",
  revocable: true,
};

const request: ChatRequest = {
  messages: [{ role: "user", content: "hi" }],
  maxTokens: 16,
  temperature: 0,
  signal: new AbortController().signal,
};

/** A server that streams these bytes, cut into pieces of `size`. */
function streaming(
  text: string,
  size = 5,
): { fetch: Fetch; sent: () => { url: string; body: Record<string, unknown>; headers: Record<string, string> } } {
  let seen: { url: string; body: Record<string, unknown>; headers: Record<string, string> } | undefined;
  const bytes = new TextEncoder().encode(text);
  const fetch: Fetch = async (url, init) => {
    seen = { url, body: JSON.parse(init.body), headers: init.headers };
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    return { ok: true, status: 200, body, text: async () => "" };
  };
  return { fetch, sent: () => seen ?? { url: "", body: {}, headers: {} } };
}

function failing(status: number, body: string): Fetch {
  return async () => ({ ok: false, status, body: null, text: async () => body });
}

async function all(fetch: Fetch, more: Partial<ChatRequest> = {}): Promise<ChatDelta[]> {
  const deltas: ChatDelta[] = [];
  for await (const delta of chatOver(fetch, token)({ ...request, ...more })) deltas.push(delta);
  return deltas;
}

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const say = (content: string) => event({ choices: [{ delta: { content } }] });

describe("a stream", () => {
  test("gives text, calls and counts, however the bytes are cut", async () => {
    const text =
      `: comment\n\n${say("Grüße ")}${say("😀")}` +
      event({
        choices: [{ delta: { tool_calls: [{ index: 0, id: "x", function: { name: "read_file", arguments: "{" } }] } }],
      }) +
      event({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: "}" } }] } }] }) +
      event({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 3 } }) +
      "data: [DONE]\n\n";
    for (const size of [1, 2, 7, 10_000]) {
      const deltas = await all(streaming(text, size).fetch);
      expect(deltas).toEqual([
        { kind: "text", text: "Grüße " },
        { kind: "text", text: "😀" },
        { kind: "call", index: 0, name: "read_file", arguments: "{" },
        { kind: "call", index: 0, name: "", arguments: "}" },
        { kind: "usage", promptTokens: 12, completionTokens: 3 },
      ]);
    }
  });

  test("that breaks off in the middle is a failure and not an answer", async () => {
    await expect(all(streaming(say("Hel")).fetch)).rejects.toMatchObject({ kind: "brokeOff" });
  });

  test("that is garbled is a failure", async () => {
    await expect(all(streaming("data: {oops\n\n").fetch)).rejects.toMatchObject({ kind: "unreachable" });
  });

  test("that reports an error in its middle is that failure", async () => {
    const text =
      say("Hel") +
      event({
        error: { code: "model_unavailable", message: "the model crashed", reason: "crashed" },
      });
    await expect(all(streaming(text).fetch)).rejects.toMatchObject({ kind: "modelUnavailable", state: "crashed" });
  });

  test("passes over members of unknown shape", async () => {
    const text = `${event([])}${event({ choices: [{ delta: null }] })}${event({ choices: [{ delta: { tool_calls: [7] } }] })}data: [DONE]\n\n`;
    expect(await all(streaming(text).fetch)).toEqual([]);
  });
});

describe("a stream of a server with habits of its own", () => {
  const done = "data: [DONE]\n\n";

  test("may leave out what it should say", async () => {
    const text =
      event({ choices: {} }) +
      event({ choices: [{ delta: { tool_calls: [{ function: { name: "a" } }, { id: "x" }, 7] } }] }) +
      event({ choices: [], usage: { prompt_tokens: "many" } }) +
      event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: null } }) +
      done;
    expect(await all(streaming(text).fetch)).toEqual([
      { kind: "call", index: 0, name: "a", arguments: "" },
      { kind: "call", index: 1, name: "", arguments: "" },
    ]);
  });

  test("may have no body at all", async () => {
    const fetch: Fetch = async () => ({ ok: true, status: 200, body: null, text: async () => "" });
    await expect(all(fetch)).rejects.toMatchObject({ kind: "unreachable" });
  });

  test("may break while it is read, and while it is told to stop", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: () => Promise.reject(new TypeError("reset")),
      cancel: () => Promise.reject(new TypeError("gone")),
    });
    const fetch: Fetch = async () => ({ ok: true, status: 200, body, text: async () => "" });
    await expect(all(fetch)).rejects.toMatchObject({ kind: "unreachable", message: "TypeError: reset" });
  });

  test("may not want to be stopped", async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(say("a"))),
      cancel: () => Promise.reject(new TypeError("gone")),
    });
    const fetch: Fetch = async () => ({ ok: true, status: 200, body, text: async () => "" });
    for await (const delta of chatOver(fetch, token)(request)) {
      expect(delta).toEqual({ kind: "text", text: "a" });
      break;
    }
  });

  test("may fail in a way that cannot be read", async () => {
    const fetch: Fetch = async () => ({
      ok: false,
      status: 500,
      body: null,
      text: () => Promise.reject(new TypeError("reset")),
    });
    await expect(all(fetch)).rejects.toMatchObject({ kind: "unreachable", message: "status 500" });
  });

  test("may be named with its whole path", async () => {
    const { fetch, sent } = streaming(done);
    const whole = { ...token, endpoint: "https://models.test/v1/chat/completions" };
    for await (const _ of chatOver(fetch, whole)(request));
    expect(sent().url).toBe(whole.endpoint);
  });

  test("is told of tools where there are any", async () => {
    const { fetch, sent } = streaming(done);
    const tool = { type: "function", function: { name: "a", description: "b", parameters: {} } } as const;
    await all(fetch, { tools: [tool] });
    expect(sent().body.tools).toEqual([tool]);
  });
});

describe("a request", () => {
  test("carries the token, the model, and asks for the counts", async () => {
    const { fetch, sent } = streaming("data: [DONE]\n\n");
    await all(fetch);
    expect(sent().url).toBe("/v1/chat/completions");
    expect(sent().headers.Authorization).toBe("Bearer secret");
    expect(sent().body).toEqual({
      model: "sha256:small",
      messages: [{ role: "user", content: "hi" }],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 16,
      temperature: 0,
    });
  });

  test("names an image by the id of what was attached", async () => {
    const { fetch, sent } = streaming("data: [DONE]\n\n");
    await all(fetch, { messages: [{ role: "user", content: "look", image: "res_1" }] });
    const image = { type: "image_url", image_url: { url: "attachment:res_1" } };
    expect(sent().body.messages).toEqual([{ role: "user", content: [{ type: "text", text: "look" }, image] }]);
  });

  test("names a schema or tools only when there are any", async () => {
    const { fetch, sent } = streaming("data: [DONE]\n\n");
    await all(fetch, { schema: { oneOf: [] }, tools: [] });
    expect(sent().body.response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "step", strict: true, schema: { oneOf: [] } },
    });
    expect(sent().body.tools).toBeUndefined();
  });

  test.each([
    [401, "", { kind: "unauthorised" }],
    [
      503,
      '{"error":{"code":"model_unavailable","message":"loading","reason":"starting"}}',
      { kind: "modelUnavailable", state: "starting" },
    ],
    [
      503,
      '{"error":{"message":"Loading model","type":"unavailable_error"}}',
      { kind: "modelUnavailable", state: undefined },
    ],
    [502, "<html>bad gateway</html>", { kind: "unreachable" }],
    [400, '{"error":{"message":"tool_not_in_snapshot"}}', { kind: "refused", message: "tool_not_in_snapshot" }],
    [429, "", { kind: "refused" }],
  ])("refused with %i %s", async (status, body, expected) => {
    await expect(all(failing(status, body))).rejects.toMatchObject(expected);
  });

  test("without a network is a failure of its own kind", async () => {
    const fetch: Fetch = () => Promise.reject(new TypeError("failed to fetch"));
    await expect(all(fetch)).rejects.toBeInstanceOf(ChatFailure);
    await expect(all(fetch)).rejects.toMatchObject({ kind: "unreachable" });
  });

  test("that was aborted says so and nothing else", async () => {
    const abort = new AbortController();
    const fetch: Fetch = async () => {
      abort.abort(new Error("stop"));
      throw new TypeError("aborted");
    };
    await expect(all(fetch, { signal: abort.signal })).rejects.toThrow("stop");
  });
});
