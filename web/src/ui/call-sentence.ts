import { catalogue } from "../language/language.ts";

/*
 * What a call will do is told by the gateway, in English, from its own templates and the call's arguments. It shows each argument as
 * one word or in quotes, so a value can be told from the sentence around it, and no value can pass for another sentence.
 */

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const SHORTENED = String.raw`${QUOTED} \.\.\.\[\d+ characters, sha256 [0-9a-f]{16}\]\.\.\. ${QUOTED}`;
const BARE = "[A-Za-z0-9_./:@%+=&?#~,-]*[A-Za-z0-9_/]";
const VALUE = String.raw`${SHORTENED}|(?:text )?${QUOTED}|\(not given\)|${BARE}|[[{].*[\]}]`;

/** What stands in a blank that is no argument's. */
const BLANKS: Readonly<Record<string, string>> = {
  tool: String.raw`[\w.-]+`,
  arguments: String.raw`\S+: .+`,
  host: String.raw`\S+`,
  place: ".+",
  folder: ".+",
  folders: ".+",
  sent: ".+",
};

/** Where words of the gateway's stand in the place of a value or around one, in the blanks that have them. */
const WORDS: readonly (readonly [RegExp, blank?: string])[] = [
  [/^(?:\(not given\)|nothing|yes|no)$/],
  [/^text(?= ")/],
  [/(?<=^"(?:[^"\\]|\\.)*" \.\.\.\[\d+ )characters(?=, sha256 )/],
  [/^nothing but the address$/, "sent"],
  [/(?<= )in the path(?=; |$)/, "sent"],
  [/(?<= )in the query(?=; |$)/, "sent"],
  [/(?<= )as headers(?=; |$)/, "sent"],
];

interface Sentence {
  readonly pattern: RegExp;
  readonly translated: string;
}

let sentences: readonly Sentence[] | undefined;

/** The sentence in the page's language, where it is one of the product's own; else as it is. */
export function callSentence(english: string): string {
  sentences ??= Object.entries(catalogue).flatMap(([key, translated]) =>
    key.startsWith("call:") ? [{ pattern: patternOf(key.slice("call:".length)), translated }] : [],
  );
  for (const { pattern, translated } of sentences) {
    const values = pattern.exec(english);
    if (values !== null)
      return translated.replaceAll(/\{(\w+)\}/g, (_, name: string) => worded(values.groups?.[name] ?? "", name));
  }
  return english;
}

function worded(value: string, blank: string): string {
  return WORDS.filter(([, only]) => only === undefined || only === blank).reduce(
    (text, [word]) => text.replace(word, (found) => catalogue[`word:${found}`] ?? found),
    value,
  );
}

function patternOf(template: string): RegExp {
  const parts = template
    .split(/\{(\w+)\}/)
    .map((part, at) =>
      at % 2 === 0 ? part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&") : `(?<${part}>${BLANKS[part] ?? VALUE})`,
    );
  return new RegExp(`^${parts.join("")}$`, "su");
}
