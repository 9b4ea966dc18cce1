import { linesOf } from "./passages.ts";
import { anyOf } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/*
 * The named values of a text: "name: value", "NAME=value", the members of a JSON document, the constants of a program.
 */

/** A value by its name, where it stands, the names of what it belongs to, and the values beside it. */
export interface NamedField {
  readonly name: string;
  readonly value: string;
  readonly line: number;
  readonly within: readonly string[];
  readonly beside: readonly string[];
}

/** An object or a list of a JSON document that is not closed yet: its name, and the values of its members so far. */
interface Group {
  readonly name: string;
  readonly isList: boolean;
  readonly values: string[];
}

const FIELD = /^([ \t]*)((?:[-*+] )?)([^\s:=#[][^:=#]{0,40}?)[ \t]*(?::[ \t]+(.*)|=[ \t]*(.*)|:)$/;
const SECTION = /^[ \t]*(?:#+ +(.+)|\[([^[\]]+)\])$/;
const TOKEN = /"(?<text>(?:[^"\\]|\\.)*)"|(?<mark>[{}[\],:])|(?<bare>[^\s"{}[\],:]+)/gs;
const CODE = new RegExp(`\\.(?:${anyOf(wishWords.codeEndings)})$`, "i");
const LITERAL = "(\"[^\"]*\"|'[^']*'|-?[0-9][0-9_.]*|[Tt]rue|[Ff]alse)";
const CONSTANT = new RegExp(
  `^[ \\t]*(?:(?:${anyOf([...wishWords.definingLeads, ...wishWords.bindingWords])}) )*` +
    `["']?([A-Za-z_][A-Za-z0-9_-]*)["']?(?:: ?[A-Za-z][^=]*?)?[ \\t]*[=:][ \\t]*${LITERAL}[ \\t]*[,;]?(?:[ \\t]+(?:#|//).*)?$`,
);

/** Whether a file is a program by its name. */
export function isCode(name: string): boolean {
  return CODE.test(name);
}

/** The fields of a text. `name` is the file's. */
export function fieldsIn(text: string, name: string): readonly NamedField[] {
  if (/\.json$/i.test(name)) return ofJson(text);
  return isCode(name) ? ofCode(text) : ofLines(text);
}

/** The name of a field with its words apart: "log Level" for "logLevel". */
export function spelt(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, " ");
}

/** Under headings, in sections, or below one another. */
function ofLines(text: string): readonly NamedField[] {
  const fields: NamedField[] = [];
  let [section, depth] = ["", -1];
  let above: { readonly indent: number; readonly name: string }[] = [];
  let record: string[] = [];
  for (const [at, line] of linesOf(text).entries()) {
    const [isSection, heading, bracketed] = SECTION.exec(line) ?? [];
    const [isField, space = "", bullet = "", name = "", told, set] = FIELD.exec(line) ?? [];
    if (isSection !== undefined) {
      [section, above, record] = [(heading ?? (bracketed as string)).trim(), [], []];
    } else if (isField !== undefined) {
      const indent = space.length + bullet.length;
      above = above.filter((each) => each.indent < indent);
      if (bullet !== "" || indent < depth) record = [];
      depth = indent;
      const value = (told ?? set ?? "").trim();
      if (value === "") above.push({ indent, name: name.trim() });
      else {
        const within = [...(section === "" ? [] : [section]), ...above.map((each) => each.name)];
        fields.push({ name: name.trim(), value, line: at + 1, within, beside: record });
        record.push(value);
      }
    }
  }
  return toldApart(fields);
}

/** The members of objects that are values, and the lists of values, each as one. What is no JSON has few. */
function ofJson(text: string): readonly NamedField[] {
  const fields: NamedField[] = [];
  const groups: Group[] = [];
  let [key, line, before] = ["", 1, 0];
  const tokens = [...text.matchAll(TOKEN)];
  for (const [at, { index, groups: found }] of tokens.entries()) {
    line += text.slice(before, index).split("\n").length - 1;
    before = index;
    const { text: quoted, bare, mark } = found as Record<string, string | undefined>;
    const [value, group] = [quoted ?? bare, groups.at(-1)];
    if (value !== undefined && tokens[at + 1]?.groups?.["mark"] === ":") key = value;
    else if (value !== undefined && group !== undefined) {
      keep(fields, groups, group, { key, value, line });
      key = "";
    } else if (mark === "{" || mark === "[") {
      groups.push({ name: key, isList: mark === "[", values: [] });
      key = "";
    } else if (mark === "}" || mark === "]") groups.pop();
  }
  return toldApart(fields);
}

/** A value of the group that is open, as a field of its own, or with the others of its list. */
function keep(
  fields: NamedField[],
  groups: readonly Group[],
  group: Group,
  { key, value, line }: { readonly key: string; readonly value: string; readonly line: number },
): void {
  const { name, isList, values } = group;
  const within = groups.flatMap((each) => (each.name === "" || (isList && each === group) ? [] : [each.name]));
  const last = isList && values.length > 0 ? fields.pop() : undefined;
  if (last !== undefined) fields.push({ ...last, value: `${last.value}, ${value}` });
  else fields.push({ name: isList ? name : key, value, line, within, beside: isList ? [] : values });
  values.push(value);
}

/** Names that are given a number or a text in a line of their own. */
function ofCode(text: string): readonly NamedField[] {
  return linesOf(text).flatMap((line, at) => {
    const [, name, value = ""] = CONSTANT.exec(line) ?? [];
    return name === undefined ? [] : [{ name, value, line: at + 1, within: [], beside: [] }];
  });
}

/** The fields, of which one that stands alone has nothing beside it. */
function toldApart(fields: readonly NamedField[]): readonly NamedField[] {
  return fields.map((each) => (each.beside.length > 1 ? each : { ...each, beside: [] }));
}
