import { describe, expect, test } from "vitest";
import { MANY, select } from "../../../src/agent/candidates.ts";
import { requirement } from "../../requirement.ts";
import { descriptor } from "./scripted.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly select: readonly {
    name: string;
    message: string;
    tools: { name: string; description: string; local?: true }[];
    examples: Record<string, string[]>;
    most: number;
    chosen: string[];
  }[];
}

describe("the likely tools are shown", () => {
  test.each(readVectors<Vectors>("candidates").select)("$name", ({ message, tools, examples, most, chosen }) => {
    const shown = select(message, tools, new Map(Object.entries(examples)), most);
    expect(shown.map(({ name }) => name)).toEqual(chosen);
    for (const tool of shown) expect(tools.some((each) => each === tool)).toBe(true);
  });
});

test("a message like an example of the prompt brings its tool to a crowded table", () => {
  requirement("004-13", "a tool whose example is like the message is shown");
  const crowd = Array.from({ length: MANY + 20 }, (_, at) => descriptor(`plugin${at}__run`, { description: "Runs." }));
  const tools = [...crowd, descriptor("search_files", { description: "Find the files that contain a text." })];
  expect(select("who mentioned the dentist?", tools).map(({ name }) => name)).toContain("search_files");
  expect(select("who mentioned the dentist?", tools)).toHaveLength(MANY);
});
