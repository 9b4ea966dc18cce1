import { StreamLanguage, type StringStream } from "@codemirror/language";

// The grammar of Cedar 4, as far as colours need it: https://docs.cedarpolicy.com/policies/syntax-grammar.html
const KEYWORDS = new Set(["permit", "forbid", "when", "unless", "if", "then", "else", "in", "has", "like", "is"]);
const VARIABLES = new Set(["principal", "action", "resource", "context"]);
const SCHEMA_WORDS = new Set(["namespace", "entity", "enum", "type", "appliesTo", "Set", "String", "Long", "Bool"]);

function token(stream: StringStream): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match("//")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
  if (stream.match(/^@\w+/)) return "meta";
  if (stream.match(/^\d+/)) return "number";
  if (stream.match(/^[A-Za-z_]\w*(?=\s*::)/)) return "typeName";
  const word = stream.match(/^[A-Za-z_]\w*/);
  if (word && word !== true) return kindOf(word[0]);
  stream.next();
  return null;
}

function kindOf(word: string): string | null {
  if (KEYWORDS.has(word) || SCHEMA_WORDS.has(word)) return "keyword";
  if (word === "true" || word === "false") return "bool";
  return VARIABLES.has(word) ? "variableName" : "propertyName";
}

/** Rules and schemas of Cedar. */
export const cedar = StreamLanguage.define({
  name: "cedar",
  token: (stream) => token(stream),
  languageData: { commentTokens: { line: "//" } },
});
