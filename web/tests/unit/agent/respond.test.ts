import { describe, expect, test } from "vitest";
import { injectRespond, isRespond, messageOf, offered, RESPOND_TOOL } from "../../../src/agent/respond.ts";
import { requirement } from "../../requirement.ts";
import { descriptor } from "./scripted.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tool: unknown;
  readonly inject: readonly { name: string; tools: unknown[] | null; added: boolean; injected: boolean }[];
  readonly isRespond: readonly { name: string; call: unknown; tools?: unknown[]; is: boolean }[];
  readonly messages: readonly { name: string; arguments: unknown; message: string }[];
}

const vectors = readVectors<Vectors>("respond");

describe("it joins the tools unless there are none or one has its name", () => {
  test.each(vectors.inject)("$name", ({ tools: given, added, injected }) => {
    const before = structuredClone(given);
    const joined = given === null ? injectRespond(given) : injectRespond(given);
    expect(joined).toEqual({ tools: added ? [...(given ?? []), vectors.tool] : given, injected });
    expect(given).toEqual(before);
    expect(joined.tools === given).toBe(!added);
  });

  test("a second injection adds nothing", () => {
    const { tools } = injectRespond([{ name: "read_file" }]);
    expect(injectRespond(tools)).toEqual({ tools, injected: true });
  });
});

describe("a call is it by its name, unless a real tool has that name", () => {
  test.each(vectors.isRespond)("$name", ({ call, tools, is }) => {
    expect(isRespond(call, tools)).toBe(is);
  });
});

describe("its message is read from JSON or an object and is text or nothing", () => {
  test.each(vectors.messages)("$name", ({ arguments: given, message }) => {
    expect(messageOf(given)).toBe(message);
  });

  test("half a character in an object is nothing either", () => {
    expect(messageOf({ message: "a\ud83d" })).toBe("");
  });
});

test("it is declared with the published schema", () => {
  expect(RESPOND_TOOL).toEqual(vectors.tool);
});

test("neither it nor what is forbidden is shown among the tools", () => {
  requirement("003-02", "respond is not shown to the person among the tools");
  const tools = [descriptor("a"), descriptor("b", { permission: "forbidden" }), descriptor("respond", { local: true })];
  expect(offered(tools).map(({ name }) => name)).toEqual(["a"]);
});
