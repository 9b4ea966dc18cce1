import { isThing } from "./acts.ts";
import { slotOf } from "./names.ts";
import { requiredOf } from "./render.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/*
 * A text that the person says in full and that is to be kept in a file: "write buy more tape into notes/tape.txt". A small model
 * copies the end of the sentence along with it, or only a part of it. What it wrote is measured against what stands between the verb
 * and the file; a text that it made up itself is left as it is.
 */

const VERBS = anyOf(vocabulary.keepingVerbs.filter((verb) => verb !== "copy"));
const LEAD = `^(?:(?:${anyOf(vocabulary.fillers)}),? )*(?:${VERBS})(?: down)?(?: that)?:? `;
const TEXT_LEAD = new RegExp(
  `^(?:(?:the|this) (?:following )?(?:${anyOf(vocabulary.givenNouns)})(?: that says| saying)?|this):? `,
  "is",
);
const TO =
  `[ ,]+(?:${anyOf(vocabulary.keepingLinks)})(?: (?:${anyOf(vocabulary.keptLeads)}))?(?: new)?(?: (?:file|note|list))?` +
  "(?: (?:called|named))? ";
const TAIL = `[.!]?(?:,? (?:${anyOf([...wishWords.tails, ...wishWords.remarks])}))*[.!]?$`;
const QUOTES = "[\"'`“”]?";

/** The arguments with the text that the person gave in full for a file, where a call has a part of it or more than it. */
export function withGivenText(
  given: Record<string, unknown>,
  schema: Readonly<Record<string, unknown>>,
  wish: string,
): Record<string, unknown> {
  const required = requiredOf(schema);
  const [path, ...paths] = required.filter((name) => slotOf(name) === "path");
  const [other, ...others] = required.filter((name) => slotOf(name) !== "path");
  if (path === undefined || other === undefined || paths.length > 0 || others.length > 0) return given;
  const { [path]: file, [other]: content } = given;
  if (typeof file !== "string" || typeof content !== "string" || content.trim() === "") return given;
  const end = `${TO}${QUOTES}${file.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")}${QUOTES}${TAIL}`;
  const said = new RegExp(`${LEAD}(.+?)${end}`, "is").exec(wish.trim())?.[1];
  if (said === undefined) return given;
  const text = said.replace(TEXT_LEAD, "").trim();
  const own = content.trim().replace(new RegExp(end, "is"), "").trim().replace(new RegExp(LEAD, "is"), "");
  const isPlain = !/["`“”]/.test(text) && !text.split(" ").some(isThing);
  return isPlain && text.includes(own) ? { ...given, [other]: text } : given;
}
