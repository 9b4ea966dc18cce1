import fc from "fast-check";
import { expect, test } from "vitest";
import { readCommand, suggestCommands } from "../../../src/agent/slash.ts";
import { requirement } from "../../requirement.ts";

test.each([
  ["hello", { kind: "message", text: "hello" }],
  ["  hello\nyou ", { kind: "message", text: "hello\nyou" }],
  ["/etc/hosts is a file", { kind: "message", text: "/etc/hosts is a file" }],
  ["/Tools", { kind: "message", text: "/Tools" }],
  ["/tools", { kind: "tools", search: "" }],
  ["/tools read  notes ", { kind: "tools", search: "read  notes" }],
  ["/model", { kind: "model", name: "" }],
  ["/model Qwen 3", { kind: "model", name: "Qwen 3" }],
  ["/grants", { kind: "grants" }],
  ["/grants all", { kind: "mistake", why: "takesNothing", about: "grants" }],
  ["/help ", { kind: "help" }],
  ["/exit", { kind: "exit" }],
  ["/inspect read_file", { kind: "inspect", name: "read_file" }],
  ["/call system_status", { kind: "call", name: "system_status", arguments: {} }],
  ['/call read_file {"path": "a b"}', { kind: "call", name: "read_file", arguments: { path: "a b" } }],
  ['/call read_file{"path": 1}', { kind: "mistake", why: "noObject", about: "call" }],
  ["/call", { kind: "mistake", why: "noToolNamed", about: "call" }],
  ["/call x [1]", { kind: "mistake", why: "noObject", about: "call" }],
  ["/call x {oops", { kind: "mistake", why: "noObject", about: "call" }],
  ["/inspect", { kind: "mistake", why: "noToolNamed", about: "inspect" }],
  ["/inspect a b", { kind: "mistake", why: "noToolNamed", about: "inspect" }],
  ["/help me", { kind: "mistake", why: "takesNothing", about: "help" }],
  ["/format", { kind: "mistake", why: "noSuchCommand", about: "format" }],
])("%s", (typed, command) => {
  expect(readCommand(typed)).toEqual(command);
});

test("what does not begin with a slash is a message, whatever it says", () => {
  requirement("002-23", "only text that begins with a slash is a command; everything else goes to the model as it is");
  fc.assert(
    fc.property(fc.string(), (typed) => {
      const text = typed.trim();
      if (!text.startsWith("/")) expect(readCommand(typed)).toEqual({ kind: "message", text });
      else expect(() => readCommand(typed)).not.toThrow();
    }),
  );
});

test("suggestions follow what is typed and stop at the first space", () => {
  const all = ["tools", "inspect", "call", "model", "grants", "help", "exit"];
  expect(suggestCommands("/").map(({ word }) => word)).toEqual(all);
  expect(suggestCommands("/c").map(({ word }) => word)).toEqual(["call"]);
  expect(suggestCommands("/call ")).toEqual([]);
  expect(suggestCommands("hi")).toEqual([]);
});
