import { describe, expect, test } from "vitest";
import { type Carrying, carryingIn } from "../../../src/agent/carrying.ts";
import { asAddition, keptCall, withoutLook } from "../../../src/agent/keeping.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import { meansWhole, withheld } from "../../../src/agent/withheld.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

type Written = readonly [name: string, given: Record<string, unknown>];

interface WithheldVectors {
  readonly tools: readonly ToolDescriptor[];
  readonly whole: readonly { readonly wish: string; readonly path: string; readonly whole: boolean }[];
  readonly cases: readonly {
    readonly name: string;
    readonly tool: string;
    readonly arguments: Readonly<Record<string, unknown>>;
    readonly wish: string;
    readonly why: string | null;
  }[];
}

interface KeepingVectors {
  readonly tools: readonly ToolDescriptor[];
  readonly additions: readonly {
    readonly name: string;
    readonly call: Written;
    readonly wish: string;
    readonly made: Written;
  }[];
  readonly kept: readonly {
    readonly name: string;
    readonly wish: string;
    readonly value: string;
    readonly found: string | null;
    readonly made: Written;
  }[];
}

const { tools: able, cases, whole: wholes } = readVectors<WithheldVectors>("withheld");
const { tools, additions, kept } = readVectors<KeepingVectors>("keeping");

function toCall([name, given]: Written) {
  return { name, arguments: given };
}

function lookFor(content: string): ToolMessage {
  const call = { id: "look", name: "search_files", arguments: { query: "*raj.txt*" } };
  return { role: "tool", turnId: "turn", call, result: { outcome: "ok", content, trust: "trusted", truncated: false } };
}

describe("a change is not made against the words of a wish", () => {
  test.each(cases)("$name", ({ tool, arguments: given, wish, why }) => {
    const known = able.find(({ name }) => name === tool) as ToolDescriptor;
    expect(withheld(given, known, wish)).toBe(why);
  });
});

describe("a whole file is told by its name or by such words as the file", () => {
  test.each(wholes)("$wish", ({ path, wish, whole }) => {
    expect(meansWhole(path, wish)).toBe(whole);
  });
});

describe("what is put into a file is added at its end", () => {
  test.each(additions)("$name", ({ call, wish, made }) => {
    expect(asAddition(toCall(call), wish, tools)).toEqual(toCall(made));
    expect(asAddition(toCall(call), wish, [])).toEqual(toCall(call));
  });
});

describe("what was found is added to a file that is there", () => {
  test.each(kept)("$name", ({ wish, value, found, made }) => {
    const carrying = carryingIn(wish, tools) as Carrying;
    const calls = found === null ? [] : [lookFor(found)];
    expect(keptCall(carrying, value, wish, calls, tools)).toEqual(toCall(made));
    expect(withoutLook(carrying, calls, tools)).toEqual([]);
  });

  test("where a search would be asked about nothing is looked for", () => {
    const asked = tools.map((tool) => ({ ...tool, permission: "consent" as const }));
    const wish = `${kept[0]?.wish}`;
    const carrying = carryingIn(wish, asked) as Carrying;
    const written = { name: "write_file", arguments: { path: "lists/raj.txt", content: "75\n" } };
    expect(keptCall(carrying, "75", wish, [], asked)).toEqual(written);
    expect(withoutLook(carrying, [lookFor("lists/raj.txt")], asked)).toEqual([lookFor("lists/raj.txt")]);
    expect(keptCall(carrying, "75", `${wish} and overwrite it`, [], tools)).toEqual(written);
  });
});
