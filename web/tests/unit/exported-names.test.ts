import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const source = fileURLToPath(new URL("../../src/", import.meta.url));

/** Names that are still exported twice. This list may only shrink. */
const KNOWN_DUPLICATES: readonly string[] = ["ChatMessage", "Conversation"];

/** The names that a module declares and exports; what it only passes on from another module is not among them. */
function exportedNames(file: string): ReadonlySet<string> {
  const tree = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  const names = new Set<string>();
  for (const statement of tree.statements) {
    if (!ts.canHaveModifiers(statement)) continue;
    const isExported = ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (isExported !== true) continue;
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) if (ts.isIdentifier(name)) names.add(name.text);
    } else if ("name" in statement && statement.name !== undefined) {
      const name = statement.name as ts.Node;
      if (ts.isIdentifier(name)) names.add(name.text);
    }
  }
  return names;
}

test("every exported name belongs to one module, so that a name means one thing everywhere", () => {
  const owners = new Map<string, string[]>();
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  for (const file of files) {
    for (const name of exportedNames(source + file)) owners.set(name, [...(owners.get(name) ?? []), file]);
  }
  expect(owners.size).toBeGreaterThan(100);
  const duplicates = [...owners].filter(([, files]) => files.length > 1);
  expect(Object.fromEntries(duplicates.filter(([name]) => !KNOWN_DUPLICATES.includes(name)))).toEqual({});
});
