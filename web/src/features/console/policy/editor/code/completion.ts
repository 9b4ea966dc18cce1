import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import annotations from "./annotations.json";
import type { Vocabulary } from "./vocabulary.ts";

const WORDS = ["permit", "forbid", "principal", "action", "resource", "context", "when", "unless", "in", "has", "like"];

/** What can stand at the cursor of a Cedar rule. */
export function completeCedar(vocabulary: Vocabulary): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const before = context.state.sliceDoc(context.state.doc.lineAt(context.pos).from, context.pos);
    if (insideComment(before)) return null;
    for (const [pattern, optionsOf] of PLACES) {
      const found = pattern.exec(before);
      if (found === null) continue;
      const typed = found.at(-1) ?? "";
      const options = optionsOf(vocabulary, found);
      return options.length > 0
        ? { from: context.pos - typed.length, options: [...options], validFor: /^[\w.-]*$/ }
        : null;
    }
    return null;
  };
}

type Options = (vocabulary: Vocabulary, found: RegExpExecArray) => readonly Completion[];

/** The first that fits counts. The last group of each is what was typed of the word so far. */
const PLACES: readonly (readonly [RegExp, Options])[] = [
  [/^\s*@(\w*)$/, annotationNames],
  [/(?:(\w+)::)?(Profile|Category|Action|Tool)::"?([\w.-]*)$/, entityNames],
  [/\b(context\.facts|context|principal|resource)\.(\w*)$/, attributes],
  [/\b(context\.facts|context)\s+has\s+(\w*)$/, attributes],
  [/(?:^|[^\w".:@])([A-Za-z]\w*)$/, words],
];

function annotationNames(): readonly Completion[] {
  return Object.entries(annotations).map(([name, { value, says }]) => ({
    label: name,
    apply: `${name}("${value}")`,
    detail: says,
    type: "property",
  }));
}

function entityNames(
  { tools, values, actions }: Vocabulary,
  [whole, , kind = ""]: RegExpExecArray,
): readonly Completion[] {
  const names = kind === "Tool" ? tools : kind === "Action" ? actions : (values.get(kind) ?? []);
  const quote = whole.includes('"') ? "" : '"';
  return names.map((name) => ({ label: name, apply: `${quote}${name}"`, type: "enum" }));
}

function attributes(vocabulary: Vocabulary, [, word = ""]: RegExpExecArray): readonly Completion[] {
  return (vocabulary.attributes.get(word) ?? []).map(({ name, says }) => ({
    label: name,
    detail: says,
    type: "property",
  }));
}

function words(): readonly Completion[] {
  const entities = ["Profile", "Category", "Action", "Tool"].map((kind) => ({
    label: kind,
    apply: `Countersign::${kind}::`,
    type: "class",
  }));
  return [...WORDS.map((label) => ({ label, type: "keyword" })), ...entities];
}

function insideComment(before: string): boolean {
  return before.replace(/"(?:[^"\\]|\\.)*"/g, "").includes("//");
}
