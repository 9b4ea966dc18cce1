import words from "../../../../../loop/copy.json" with { type: "json" };
import prompts from "../../../../../loop/prompts.json" with { type: "json" };
import { catalogue } from "../../../language/language.ts";

/*
 * What the agent loop says by itself, in the page's language. The loop speaks English: its sentences are recorded, go to the model
 * with the rest of the conversation, and are known again by their words. So they become German only where a person reads them, and
 * a conversation that was held in English reads the same as one that was not.
 */

type Translate = (text: string) => string;

interface Sentence {
  readonly pattern: RegExp;
  readonly german: string;
}

const NOUNS = ["line", "row", "entry", "file", "folder"].flatMap((noun) => [`${noun}One`, `${noun}Many`]);
/** Words for the blanks of other sentences, and what only the model reads. */
const NO_SENTENCE: ReadonlySet<string> = new Set([...NOUNS, "workspace", "totalsLeftOut", "unheard", "importedTurn"]);
const says: Readonly<Record<string, string>> = words.says;

/** What stands in a blank, where that is less than any words of a line. */
const BLANKS: Readonly<Record<string, string>> = {
  tool: "`[^`]+`",
  count: "[0-9]+",
  rest: "[0-9]+|`.+`",
  names: "`.+`",
  place: `\`[^\`]*\`|${says.workspace}`,
  noun: NOUNS.map((name) => says[name]).join("|"),
  sign: "[=≈]",
  why: "\\.|: .+",
};
const BLANK = /\{(\w+)\}/;
const FENCE = /^(`{3,})/;
/** What may follow a sentence: where it stands in a file or what went wrong, that sums are left out, and what is quoted below. */
const TAIL = `(?<cited> \\(.+\\))?(?<sums>\\. ${escaped(says.totalsLeftOut ?? "")})?(?<end>:?)`;
const CITED = /\(`[^`]*`(?:, lines? [0-9–, ]*[0-9])?(?:, column `[^`]*`)?\)/g;

/** A text with each sentence of the loop's own as the catalogue has it. What a fence holds is a file's, and stays as it is. */
export function translator(german: Readonly<Record<string, string>>): Translate {
  const sentences = sentencesIn(german);
  if (sentences.length === 0) return (text) => text;
  return (text) => {
    let fence = "";
    const lines = text.split("\n").map((line) => {
      const [mark = ""] = FENCE.exec(line) ?? [];
      if (fence === "" && mark === "") return translate(line, sentences, german);
      if (fence === "") fence = mark;
      else if (line === fence) fence = "";
      return line;
    });
    return lines.join("\n");
  };
}

const inThisLanguage = translator(catalogue);
const shown = new WeakMap<object, string>();

/** The text of an entry as it is read, made once. */
export function shownText(entry: { readonly text: string }): string {
  let text = shown.get(entry);
  if (text === undefined) {
    text = inThisLanguage(entry.text);
    shown.set(entry, text);
  }
  return text;
}

function sentencesIn(german: Readonly<Record<string, string>>): readonly Sentence[] {
  const english = [
    ...Object.entries(says).filter(([name]) => !NO_SENTENCE.has(name)),
    ...Object.entries(words.outcomes).flatMap(([outcome, sentences]) =>
      Object.entries(sentences).map(([reason, text]): [string, string] => [`${outcome}.${reason}`, text]),
    ),
    ...Object.entries(prompts.report.fixed).map(([tool, text]): [string, string] => [`fixed.${tool}`, text]),
  ];
  return english
    .toSorted(([, one], [, other]) => literalLength(other) - literalLength(one))
    .flatMap(([name, text]) => {
      const translated = german[`loop:${name}`];
      return translated === undefined ? [] : [{ pattern: patternOf(text), german: translated }];
    });
}

/** Of two that fit, the sentence with more words of its own is the one that was said. */
function literalLength(sentence: string): number {
  return sentence.replaceAll(/\{\w+\}/g, "").length;
}

function patternOf(sentence: string): RegExp {
  const seen = new Set<string>();
  const parts = sentence.split(BLANK).map((part, at) => {
    if (at % 2 === 0) return escaped(part);
    if (seen.has(part)) return `\\k<${part}>`;
    seen.add(part);
    return `(?<${part}>${BLANKS[part] ?? ".+?"})`;
  });
  return new RegExp(`^${parts.join("")}${TAIL}$`, "u");
}

function translate(line: string, sentences: readonly Sentence[], german: Readonly<Record<string, string>>): string {
  for (const { pattern, german: sentence } of sentences) {
    const found = pattern.exec(line)?.groups;
    if (found === undefined) continue;
    const said = sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => blankIn(name, found[name] ?? "", german));
    const sums = found.sums === undefined ? "" : `. ${german["loop:totalsLeftOut"]}`;
    return `${said}${citedIn(found.cited ?? "")}${sums}${found.end}`;
  }
  return citedIn(line);
}

function blankIn(name: string, value: string, german: Readonly<Record<string, string>>): string {
  const known = [...NOUNS, "workspace"].find((each) => says[each] === value);
  if ((name === "noun" || name === "place") && known !== undefined) return german[`loop:${known}`] ?? value;
  if (name === "why") return value.replace(`: ${says.unheard}.`, () => `: ${german["loop:unheard"]}.`);
  return name === "names" ? value.replace(/` and `(?=[^`]*`$)/, "` und `") : value;
}

/** "(`costs.csv`, lines 2–3, column `amount`)" */
function citedIn(line: string): string {
  return line.replaceAll(CITED, (cited) =>
    cited
      .replace(/(?<=`, )line(?=s? [0-9])/, "Zeile")
      .replace(/(?<=`, Zeile)s(?= )/, "n")
      .replace(/(?<=, )column(?= `[^`]*`\)$)/, "Spalte"),
  );
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
