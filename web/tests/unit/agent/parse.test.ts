import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firstObject, parseAction, partialAnswer } from "../../../src/agent/parse.ts";

describe("the first complete object", () => {
  test("is found between prose and fences", () => {
    expect(firstObject('Sure!\n```json\n{"answer": "hi"}\n```\nAnything else?')).toBe('{"answer": "hi"}');
  });

  test("is not fooled by braces and quotes inside strings", () => {
    const object = '{"answer": "a } and a \\" and a { and a \\\\"}';
    expect(firstObject(`${object} }`)).toBe(object);
  });

  test("is null while it is not complete", () => {
    expect(firstObject('{"tool": "read_file", "arguments": {"path": "a')).toBeNull();
    expect(firstObject("no object here")).toBeNull();
  });

  test("any JSON object is found whole, whatever follows", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (value, after) => {
        const text = JSON.stringify(value);
        expect(firstObject(text + after)).toBe(text);
      }),
    );
  });
});

describe("an action", () => {
  test("is a call with its arguments", () => {
    expect(parseAction('{"tool":"read_file","arguments":{"path":"a"}}')).toEqual({
      kind: "call",
      tool: "read_file",
      arguments: { path: "a" },
    });
  });

  test("without arguments has none", () => {
    expect(parseAction('{"tool":"system_status"}')).toEqual({ kind: "call", tool: "system_status", arguments: {} });
  });

  test("is an answer, which may contain an object of its own as text", () => {
    expect(parseAction('{"answer":"like {\\"tool\\": 1}"}')).toEqual({ kind: "answer", text: 'like {"tool": 1}' });
  });

  test.each([
    ["prose", "I will read the file now.", "there is no JSON object"],
    ["a broken object", '{"tool": "read_file", "arguments": {"path": ', "the JSON object does not end"],
    ["single quotes", "{'tool': 'read_file'}", "it is not valid JSON"],
    ["neither shape", '{"action": "read"}', "it has neither `tool` nor `answer`"],
    ["arguments that are no object", '{"tool": "x", "arguments": [1]}', "`arguments` is not an object"],
    ["an answer that is no text", '{"answer": 42}', "it has neither `tool` nor `answer`"],
    ["nothing", "", "there is no JSON object"],
  ])("is refused with a reason: %s", (_name, text, reason) => {
    expect(parseAction(text)).toEqual({ kind: "malformed", reason });
  });

  test("any text gives an action and never an exception", () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => void parseAction(text)));
  });
});

describe("a partial answer", () => {
  test("grows to the whole answer and never shows an escape half read", () => {
    const whole = 'Line one\nsaid "hi" \\ 😀 é';
    const json = JSON.stringify({ answer: whole }).replace("é", "\\u00e9").replace("😀", "\\ud83d\\ude00");
    let before = "";
    for (let length = 0; length <= json.length; length++) {
      const part = partialAnswer(json.slice(0, length));
      if (part === null) continue;
      expect(whole.startsWith(part)).toBe(true);
      expect(part.length).toBeGreaterThanOrEqual(before.length);
      before = part;
    }
    expect(before).toBe(whole);
  });

  test("is null for a call", () => {
    expect(partialAnswer('{"tool": "read_file"')).toBeNull();
  });
});
