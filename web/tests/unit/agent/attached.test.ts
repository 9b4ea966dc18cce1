import { expect, test } from "vitest";
import { ATTACHER, withoutAttachedBytes, withoutBytes } from "../../../src/agent/attached.ts";
import type { Message } from "../../../src/agent/messages.ts";

const ATTACHED = { id: "c1", name: ATTACHER, arguments: { name: "a.png", data: "aGk=" } };
const OTHER = { id: "c2", name: "send_file", arguments: { data: "aGk=" } };

test("a call that attaches is told without its bytes, and any other as it is", () => {
  expect(withoutBytes(ATTACHED).arguments).toEqual({ name: "a.png" });
  expect(withoutBytes(OTHER)).toBe(OTHER);
});

test("a model is told no bytes of what was attached, neither with the words nor with the result", () => {
  const messages: Message[] = [
    { role: "user", turnId: "t", content: "see" },
    { role: "assistant", turnId: "t", content: "", toolCalls: [ATTACHED] },
    {
      role: "tool",
      turnId: "t",
      call: ATTACHED,
      result: { outcome: "ok", content: "seen", trust: "untrusted", truncated: false },
    },
  ];
  expect(JSON.stringify(withoutAttachedBytes(messages))).not.toContain("aGk=");
});
