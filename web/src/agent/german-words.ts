import words from "../../../loop/copy.json" with { type: "json" };
import germanWish from "../../../loop/german.json" with { type: "json" };
import prompts from "../../../loop/prompts.json" with { type: "json" };
import germanSentences from "../language/de/loop.ts";

/*
 * What the agent loop says by itself, in German. The loop works with its English sentences: they go to the model with the rest of
 * the conversation, and are known again by their words. They become German where they are said to somebody who speaks German to
 * it, and where a page in German shows them.
 */

type Translate = (text: string) => string;

interface Sentence {
  readonly pattern: RegExp;
  readonly german: string;
}

const says: Readonly<Record<string, string>> = words.says;
const NOUNS = Object.entries(says).flatMap(([name, text]) => (/^[a-z]+$/.test(text) ? [name] : []));
/** Why a call was cancelled: the loop's own words and those of the gateway, which speaks English. */
const CANCELLED = ["unheard", "endedBefore", "endedDuring", "earlierFailed"] as const;
/** Words for the blanks of other sentences, and what only the model reads. */
const NO_SENTENCE: ReadonlySet<string> = new Set([
  ...NOUNS,
  ...CANCELLED,
  "workspace",
  "totalsLeftOut",
  "importedTurn",
]);

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
const TAIL = `(?<cited> \\(.+\\))?(?<sums>\\. ${escaped(says.totalsLeftOut as string)})?(?<end>:?)`;
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
    const said = sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => blankIn(name, found[name] as string, german));
    const sums = found.sums === undefined ? "" : `. ${german["loop:totalsLeftOut"]}`;
    return `${said}${citedIn(found.cited ?? "")}${sums}${found.end}`;
  }
  return citedIn(line);
}

function blankIn(name: string, value: string, german: Readonly<Record<string, string>>): string {
  const known = [...NOUNS, "workspace"].find((each) => says[each] === value);
  if ((name === "noun" || name === "place") && known !== undefined) return german[`loop:${known}`] as string;
  if (name === "why") {
    const why = CANCELLED.find((each) => value === `: ${says[each]}.`);
    return why === undefined ? value : `: ${german[`loop:${why}`]}.`;
  }
  if (name === "abilities") {
    const told = Object.entries(germanWish.abilities).reduce((so, [ability, each]) => so.replace(ability, each), value);
    return told.replace(/ and (?=[^,]*$)/, " und ");
  }
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

/** A text with each sentence of the loop's own in German. */
export const inGerman: Translate = translator(germanSentences);
