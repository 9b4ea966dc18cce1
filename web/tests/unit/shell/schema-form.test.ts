import { describe, expect, test } from "vitest";
import { fieldsOf, initialTexts, othersIn, readArguments } from "../../../src/features/shell/schema-form.ts";

const fields = fieldsOf({
  type: "object",
  required: ["path", "content", "depth"],
  properties: {
    mode: { enum: ["fast", 2, null], description: "How", default: "fast" },
    path: { type: "string", maxLength: 5, pattern: "^[a-z]+$" },
    content: { type: "string" },
    depth: { type: "integer", minimum: 1, maximum: 3 },
    ratio: { anyOf: [{ type: "number" }, { type: "null" }] },
    deep: { $ref: "#/$defs/Deep" },
    list: { type: "array" },
    dry: { type: "boolean", default: true },
  },
  $defs: { Deep: { type: "object", description: "Nested" } },
});
const good = { path: "abc", content: "", depth: "2" };

describe("a form made from a schema", () => {
  test("asks for what is required first, and says what holds when nothing is given", () => {
    expect(fields.map(({ name, kind, required }) => [name, kind, required])).toEqual([
      ["path", "line", true],
      ["content", "text", true],
      ["depth", "integer", true],
      ["mode", "choice", false],
      ["ratio", "number", false],
      ["deep", "json", false],
      ["list", "json", false],
      ["dry", "yesNo", false],
    ]);
    expect(fields.map(({ hint }) => hint)).toContain("How. Left empty: fast");
    expect(fields.map(({ hint }) => hint)).toContain("From 1 to 3");
    expect(fields.map(({ hint }) => hint)).toContain("Nested");
  });

  test("gives values of the kinds that the schema names, and leaves out what is empty", () => {
    expect(readArguments(fields, good)).toEqual({ kind: "arguments", given: { path: "abc", content: "", depth: 2 } });
    const all = { ...good, mode: "2", ratio: "0.5", deep: '{"a":[1]}', list: "[]", dry: "false" };
    expect(readArguments(fields, all)).toEqual({
      kind: "arguments",
      given: { path: "abc", content: "", depth: 2, mode: 2, ratio: 0.5, deep: { a: [1] }, list: [], dry: false },
    });
  });

  test.each([
    ["path", "", "This has to be given"],
    ["path", "abcdef", "At most 5 characters"],
    ["path", "A", "This has to fit the pattern ^[a-z]+$"],
    ["depth", "x", "This is no number"],
    ["depth", "1.5", "This has to be a whole number"],
    ["depth", "0", "At least 1"],
    ["depth", "4", "At most 3"],
    ["deep", "[]", "This has to be an object, like {}"],
    ["list", "{}", "This has to be a list, like []"],
    ["deep", "{", "This is no JSON"],
  ])("says at the field %s what is wrong with %j", (name, text, error) => {
    const reading = readArguments(fields, { ...good, [name]: text });
    expect(reading).toMatchObject({ kind: "errors", errors: { [name]: expect.stringContaining(error) } });
  });

  test("begins with what was given, and keeps what the schema does not name", () => {
    const given = { path: "a", depth: 1, deep: { b: 1 }, mode: null, dry: true, extra: 7 };
    const texts = initialTexts(fields, given);
    expect(texts).toMatchObject({ path: "a", depth: "1", mode: "null", dry: "true", content: "", list: "" });
    expect(readArguments(fields, { ...texts })).toMatchObject({ given: { deep: { b: 1 }, mode: null } });
    expect(othersIn(fields, given)).toEqual({ extra: 7 });
  });

  test("a schema that says nothing makes an empty form", () => {
    expect(fieldsOf({})).toEqual([]);
    expect(fieldsOf({ properties: { a: true, b: { type: "string", pattern: "(" } } })).toHaveLength(2);
    expect(readArguments(fieldsOf({ properties: { b: { type: "string", pattern: "(" } } }), { b: "x" })).toMatchObject({
      given: { b: "x" },
    });
  });
});
