import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import consoleTexts from "../../../src/language/de/console.json" with { type: "json" };
import shell from "../../../src/language/de/shell.json" with { type: "json" };
import ui from "../../../src/language/de/ui.json" with { type: "json" };
import { type Piece, takeApart } from "../../../src/language/t.ts";
import { EXEMPT } from "./exempt.ts";
import { looseWords, messagesIn } from "./words.ts";

const source = fileURLToPath(new URL("../../../src/", import.meta.url));

/** The rooms of both apps: every word in them is in a catalogue. */
const ROOMS: readonly { readonly folder: string; readonly german: Readonly<Record<string, string>> }[] = [
  { folder: "ui/", german: ui },
  { folder: "features/shell/", german: shell },
  { folder: "features/console/", german: consoleTexts },
];

const named = ROOMS.map((room) => [room.folder, room] as const);
const files = new Map(ROOMS.map(({ folder }) => [folder, filesIn(folder)]));
const program = ts.createProgram([...files.values()].flat(), {
  jsx: ts.JsxEmit.ReactJSX,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  types: ["vite/client"],
});

function filesIn(folder: string): string[] {
  const names = readdirSync(source + folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => /\.tsx?$/.test(name)).map((name) => source + folder + name);
}

function treesOf(folder: string): ts.SourceFile[] {
  return (files.get(folder) ?? []).map((file) => {
    const tree = program.getSourceFile(file);
    if (tree === undefined) throw new Error(`${file} was not read`);
    return tree;
  });
}

/** A message's parts without their words: which values it shows, which of them take a part of it, and which choose a form. */
function holes(pieces: readonly Piece[]): string[] {
  return pieces.flatMap((piece) => {
    if (typeof piece === "string") return [];
    if (piece.forms !== undefined) return [];
    return piece.inner === undefined ? [`${piece.at}`] : [`${piece.at}<>`, ...holes(piece.inner)];
  });
}

function forms(pieces: readonly Piece[]): number[] {
  return pieces.flatMap((piece) => {
    if (typeof piece === "string") return [];
    return piece.forms === undefined ? forms(piece.inner ?? []) : [piece.forms.length];
  });
}

describe.each(named)("%s", (folder, { german }) => {
  const messages = new Set(treesOf(folder).flatMap(messagesIn));
  const known: Readonly<Record<string, string>> = { ...ui, ...german };

  test("every word that people read is a message", () => {
    const checker = program.getTypeChecker();
    const loose = treesOf(folder).flatMap((tree) =>
      looseWords(tree, checker).map(({ node, text }) => {
        const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
        return { file: tree.fileName.slice(source.length), line, text: text.replace(/\s+/g, " ").trim() };
      }),
    );
    const isExempt = (file: string, text: string) =>
      EXEMPT.some((each) => each.file === file && (each.text === undefined || each.text.test(text)));
    expect(loose.filter(({ file, text }) => !isExempt(file, text))).toEqual([]);
    const needless = EXEMPT.filter(
      ({ file, text }) =>
        file.startsWith(folder) && !loose.some((each) => each.file === file && (text?.test(each.text) ?? true)),
    );
    expect(needless).toEqual([]);
  });

  test("every message has a German text", () => {
    expect([...messages].filter((key) => !(key in known))).toEqual([]);
    expect(messages.size).toBeGreaterThan(50);
  });

  test("no German text is left of a message that is gone, or stands in two catalogues", () => {
    expect(Object.keys(german).filter((key) => !messages.has(key))).toEqual([]);
    expect(german === ui ? [] : Object.keys(german).filter((key) => key in ui)).toEqual([]);
  });

  test("every German text shows what the English one shows", () => {
    const faults = Object.entries(german).flatMap(([english, translated]) => faultsOf(english, translated));
    expect(faults).toEqual([]);
  });
});

function faultsOf(english: string, german: string): string[] {
  const [ours, theirs] = [takeApart(english), takeApart(german)];
  const faults: string[] = [];
  if (german.trim() === "") faults.push("says nothing");
  if (holes(theirs).toSorted().join() !== holes(ours).toSorted().join()) faults.push("shows other values");
  if ([...forms(ours), ...forms(theirs)].some((count) => count !== 2)) faults.push("has not two forms of a word");
  // A space at an edge joins a text to what stands beside it.
  if (edges(german) !== edges(english)) faults.push("has other spaces at its edges");
  return faults.map((fault) => `${german}: ${fault}`);
}

/** Whether a text is set apart from what stands before it and after it, by a space or, before it, by a comma or a stop. */
function edges(text: string): string {
  return `${/^[\s,.]/.test(text)} ${/\s$/.test(text)}`;
}

test("a fault of a translation is found", () => {
  expect(faultsOf("Remove {0}", "{0} entfernen")).toEqual([]);
  expect(faultsOf("Remove {0}", "Entfernen")).toEqual(["Entfernen: shows other values"]);
  expect(faultsOf("Read {0}<this>", "{0} lesen")).toEqual(["{0} lesen: shows other values"]);
  expect(faultsOf("{0} {call|calls}", "{0} {Aufruf|Aufrufe|mehr}")).toEqual([
    "{0} {Aufruf|Aufrufe|mehr}: has not two forms of a word",
  ]);
  expect(faultsOf(" (not done)", "(nicht getan)")).toEqual(["(nicht getan): has other spaces at its edges"]);
  expect(faultsOf("Remove", " ")).toContain(" : says nothing");
});

test("a word that is no message is found, wherever people read it", () => {
  const text = `
    const label = { title: "Not a message", tone: "danger" };
    const found = state === "Also a code" ? undefined : \`A call of \${name}\`;
    const node = <p title="Spoken" className="not-read">read <b>{open ? "less" : t\`more\`}</b></p>;
  `;
  const loose = looseWords(ts.createSourceFile("x.tsx", text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TSX));
  expect(loose.map((each) => each.text.trim())).toEqual(["Not a message", "A call of {0}", "Spoken", "read", "less"]);
});
