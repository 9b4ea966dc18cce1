import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { canonicalText, inspect, toBase64Url } from "../../../src/features/console/approvals/challenge.ts";
import { hashText, toHex } from "../../../src/ui/sha256.ts";
import { ask } from "./fake-gateway.ts";

interface CanonicalVectors {
  readonly accepted: readonly {
    readonly name: string;
    readonly input: string;
    readonly canonical: string;
    readonly sha256: string;
  }[];
}

interface StatementVectors {
  readonly vectors: readonly {
    readonly name: string;
    readonly statement: Record<string, unknown>;
    readonly canonical: string;
    readonly sha256: string;
    readonly challenge: string;
  }[];
}

function vectors<Shape>(name: string): Shape {
  return JSON.parse(readFileSync(new URL(`../../../../tests/vectors/${name}.json`, import.meta.url), "utf8"));
}

describe("the same bytes as the gateway's (promise 2)", () => {
  test.each(vectors<CanonicalVectors>("canonical").accepted)(
    "canonical form: $name",
    async ({ input, canonical, sha256 }) => {
      expect(canonicalText(JSON.parse(input))).toBe(canonical);
      expect(toHex(await hashText(canonical))).toBe(sha256);
    },
  );

  test.each(vectors<StatementVectors>("statement").vectors)("statement: $name", async (vector) => {
    const { approval, order } = ask();
    const found = await inspect({ approval, order, statement: vector.statement });
    expect(found.canonical).toBe(vector.canonical);
    expect(found.digest).toBe(vector.sha256);
    expect(toBase64Url(found.hash)).toBe(vector.challenge);
  });
});

describe("what is shown must be what is signed", () => {
  test("a question that fits has no mismatch", async () => {
    expect((await inspect(ask())).mismatches).toEqual([]);
  });

  test("an announced digest that is another one is a mismatch", async () => {
    const question = ask();
    const found = await inspect({ ...question, approval: { ...question.approval, statementDigest: "0".repeat(64) } });
    expect(found.mismatches).toEqual([expect.stringContaining("digest")]);
  });

  test.each([
    ["tool", { tool: "read_file" }],
    ["set of arguments", { arguments: { path: "notes/new.txt", content: "hello", mode: "0777" } }],
    ["set of arguments", { arguments: { path: "notes/new.txt" } }],
    ["set of arguments", { arguments: { path: "notes/new.txt", content: "hellо" } }],
    ["kind of approval", { kind: "stepUp" as const }],
    ["approval", { id: "apr_2" }],
    ["conversation", { conversationId: "cnv_2" }],
    ["turn", { turnId: "trn_2" }],
    ["call", { callId: "call_2" }],
    ["time of expiry", { expiresAt: "2026-11-22T10:05:00.000Z" }],
  ])("another %s on the page is a mismatch", async (what, changes) => {
    const question = ask();
    const found = await inspect({ ...question, approval: { ...question.approval, ...changes } });
    expect(found.mismatches).toEqual([`The ${what} on this page is not the one in the statement.`]);
  });

  test("arguments in another order are the same arguments", async () => {
    const question = ask();
    const turned = { content: "hello", path: "notes/new.txt" };
    expect((await inspect({ ...question, approval: { ...question.approval, arguments: turned } })).mismatches).toEqual(
      [],
    );
  });

  test("a statement without arguments does not pass for one with none", async () => {
    const question = ask({ arguments: {} });
    const { arguments: _, ...statement } = question.statement;
    expect((await inspect({ ...question, statement })).mismatches).not.toEqual([]);
  });
});
