import { describe, expect, test } from "vitest";
import {
  MOST_SUGGESTED,
  suggestModels,
  suggestPaths,
  suggestTools,
  wantedAt,
} from "../../../src/features/shell/completion.ts";
import { foldersBelow, suggestPathsBelow } from "../../../src/features/shell/completion-below.ts";
import { smallModel, tools } from "../agent/scripted.ts";

const at = (text: string) => wantedAt(text, text.length);

describe("what the text before the caret could go on with", () => {
  test("an @ at the start of a word asks for a path, in the folder that is written so far", () => {
    expect(at("read @")).toEqual({ kind: "path", folder: ".", start: "", from: 5 });
    expect(at("@notes/to")).toEqual({ kind: "path", folder: "notes", start: "to", from: 0 });
    expect(wantedAt("see @no and", 7)).toEqual({ kind: "path", folder: ".", start: "no", from: 4 });
  });

  test.each(["ada@example.com", "a @b c", "/call x @", "plain"])("%s asks for nothing", (text) => {
    expect(at(text)).toBeNull();
  });

  test("a slash asks for a command, and the word after two of them for a tool", () => {
    expect(at("/in")).toMatchObject({ kind: "command" });
    expect(at("/call wri")).toEqual({ kind: "tool", command: "call", start: "wri", from: 6 });
    expect(at("/inspect ")).toMatchObject({ kind: "tool", command: "inspect", start: "" });
    expect(at("/call write_file {")).toBeNull();
    expect(at("/model Qwen 3")).toEqual({ kind: "model", start: "Qwen 3", from: 7 });
  });
});

describe("what is suggested", () => {
  const wanted = { kind: "path", folder: "notes", start: "to", from: 4 } as const;

  test("what begins with the word comes first, and a file becomes a path in the person's words", () => {
    const entries = [
      { name: "auto.md", isFolder: false },
      { name: "to do", isFolder: false },
      { name: "tools", isFolder: true },
      { name: "plan.md", isFolder: false },
    ];
    expect(suggestPaths(wanted, entries).map(({ insert, goesOn }) => [insert, goesOn])).toEqual([
      ['"notes/to do" ', false],
      ["@notes/tools/", true],
      ["notes/auto.md ", false],
    ]);
  });

  test("a name with what cannot be seen in it is not suggested, and a hidden one only when it is asked for", () => {
    const entries = ["to\u202edo", "to\ndo", 'to"do', ".to"].map((name) => ({ name, isFolder: false }));
    expect(suggestPaths(wanted, entries)).toEqual([]);
    expect(suggestPaths({ ...wanted, start: ".t" }, entries)).toHaveLength(1);
  });

  test("a name that is not in the folder is looked for in the folders there, and stands with the one that it is in", () => {
    const sought = { kind: "path", folder: ".", start: "jan", from: 5 } as const;
    const names = [".git", "a\u202eb", ...Array.from({ length: 20 }, (_, index) => `f${index}`)];
    const below = foldersBelow(
      sought,
      names.map((name) => ({ name, isFolder: name !== "f1" })),
    );
    expect(below).toEqual(["f0", "f2", "f3", "f4", "f5", "f6", "f7", "f8"]);
    expect(foldersBelow({ ...sought, folder: "notes" }, [{ name: "old", isFolder: true }])).toEqual(["notes/old"]);
    const found = suggestPathsBelow(sought, [
      ["notes/old", [{ name: "plan.md", isFolder: false }]],
      ["notes/reports", [{ name: "january.csv", isFolder: false }]],
    ]);
    expect(found.map(({ label, insert }) => [label, insert])).toEqual([
      ["reports/january.csv", "notes/reports/january.csv "],
    ]);
    const many = Array.from({ length: 9 }, (_, index) => ({ name: `jan${index}`, isFolder: false }));
    const full = ["a", "b"].map((folder) => [folder, many] as const);
    expect(suggestPathsBelow(sought, full)).toHaveLength(MOST_SUGGESTED);
  });

  test("a long folder is cut", () => {
    const entries = Array.from({ length: 500 }, (_, index) => ({ name: `to${index}`, isFolder: false }));
    expect(suggestPaths(wanted, entries)).toHaveLength(MOST_SUGGESTED);
  });

  test("models by their names, and by its id one whose name another has", () => {
    const named = (id: string, displayName: string) => ({ ...smallModel, id, displayName });
    const models = [named("a", "Qwen 3"), named("b", "Small"), named("c", "Small")];
    const inserted = (start: string) =>
      suggestModels({ kind: "model", start, from: 7 }, models).map(({ insert }) => insert);
    expect(inserted("")).toEqual(["Qwen 3", "b", "c"]);
    expect(inserted("3")).toEqual(["Qwen 3"]);
    expect(inserted("none")).toEqual([]);
  });

  test("a tool that is to be called leads on to its form", () => {
    const [first] = suggestTools({ kind: "tool", command: "call", start: "list", from: 6 }, tools);
    expect(first).toMatchObject({ insert: "list_directory ", tool: { name: "list_directory" } });
    const [read] = suggestTools({ kind: "tool", command: "inspect", start: "list", from: 9 }, tools);
    expect(read).toMatchObject({ insert: "list_directory", tool: null });
  });
});
