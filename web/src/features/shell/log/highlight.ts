import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

/** What a part of a program is, as far as it has a colour of its own. */
export type CodeKind = "keyword" | "string" | "number" | "name" | "comment" | "removed" | "plain";

/** A piece of text, or a part of the program made of such pieces. Nothing of it is ever read as HTML. */
export type CodePart = string | { readonly kind: CodeKind; readonly parts: readonly CodePart[] };

/** The parts of a text in a language, or null where the language is not known. */
export type Highlight = (text: string, lang: string) => readonly CodePart[] | null;

const languages = {
  bash,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
const lowlight = createLowlight(languages);

const KINDS: Readonly<Record<string, CodeKind>> = {
  keyword: "keyword",
  selector: "keyword",
  section: "keyword",
  tag: "keyword",
  string: "string",
  regexp: "string",
  addition: "string",
  number: "number",
  literal: "number",
  symbol: "number",
  title: "name",
  name: "name",
  attr: "name",
  attribute: "name",
  property: "name",
  built_in: "name",
  type: "name",
  meta: "comment",
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  deletion: "removed",
};

export const highlight: Highlight = (text, lang) => {
  const known = lang.toLowerCase();
  return lowlight.registered(known) ? readParts(lowlight.highlight(known, text).children) : null;
};

type Nodes = ReturnType<typeof lowlight.highlight>["children"];

function readParts(nodes: Nodes): CodePart[] {
  return nodes.flatMap((node): CodePart[] => {
    if (node.type === "text") return [node.value];
    if (node.type !== "element") return [];
    return [{ kind: kindOf(node.properties.className), parts: readParts(node.children as Nodes) }];
  });
}

/** A class is `hljs-` and the name of a scope: `hljs-selector-tag`, `hljs-title function_`. */
function kindOf(classes: unknown): CodeKind {
  const [first = ""] = Array.isArray(classes) ? classes.map(String) : [];
  const scope = first.replace(/^hljs-/, "");
  return KINDS[scope] ?? KINDS[scope.split("-", 1)[0] ?? ""] ?? "plain";
}
