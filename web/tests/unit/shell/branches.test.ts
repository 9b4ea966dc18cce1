import { expect, test } from "vitest";
import { branchesAt } from "../../../src/features/shell/branches.ts";
import { conversationOf } from "./scripted-client.ts";

function held(id: string, turnCount: number, second: number, parent?: readonly [id: string, inheritedTurns: number]) {
  return {
    ...conversationOf(id),
    createdAt: `2026-11-21T10:00:0${second}.000Z`,
    turnCount,
    ...(parent !== undefined && { parentId: parent[0], inheritedTurns: parent[1] }),
  };
}

// one: a b c; two: a b' ; three, asked from two: a b'' ; four, from two: a b' d
const family = [
  held("one", 3, 0),
  held("two", 1, 1, ["one", 1]),
  held("three", 1, 2, ["two", 1]),
  held("four", 1, 3, ["two", 2]),
];

test("a branch of a branch at the same turn is one more branch of the first", () => {
  expect(branchesAt(family, "one", 1)).toEqual({ ids: ["one", "two", "three"], index: 0 });
  expect(branchesAt(family, "three", 1)).toEqual({ ids: ["one", "two", "three"], index: 2 });
});

test("a turn that was inherited belongs to the branch that it comes from", () => {
  expect(branchesAt(family, "four", 1)).toEqual({ ids: ["one", "two", "three"], index: 1 });
  expect(branchesAt(family, "four", 0)).toBeNull();
});

test("where nothing else goes on there is no branch", () => {
  expect(branchesAt(family, "one", 2)).toBeNull();
  expect(branchesAt(family, null, 0)).toBeNull();
  expect(branchesAt(family, "one", -1)).toBeNull();
  // The copy of a whole conversation is a branch once somebody goes on in it.
  expect(branchesAt([...family, held("copy", 0, 4, ["one", 3])], "one", 3)).toBeNull();
});

test("the branches of a conversation that is deleted still know each other", () => {
  const [, two, three] = family;
  if (two === undefined || three === undefined) throw new Error("the family has them");
  expect(branchesAt([two, { ...three, parentId: "one" }], "two", 1)).toEqual({ ids: ["two", "three"], index: 0 });
});
