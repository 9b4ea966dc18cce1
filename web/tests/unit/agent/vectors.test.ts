import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { actionPrefix } from "../../../src/agent/prompts.ts";

const vector = JSON.parse(
  readFileSync(new URL("../../../../tests/vectors/agent/action-prefix.json", import.meta.url), "utf8"),
);

test("both languages begin a conversation with the same bytes", () => {
  expect(actionPrefix(vector.tools)).toEqual(vector.messages);
});
