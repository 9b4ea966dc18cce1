import { FILE, LEAD, TAIL } from "./assigned.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * A copy of a file, "copy a.txt to b/", where no tool makes one: the file is read, and what it says is written elsewhere. A small
 * model writes the name of the file into the copy instead.
 */

/** The paths of a file and of its copy. */
export interface Copying {
  readonly file: string;
  readonly to: string;
}

const TARGET =
  "(?:(?:the|my|our) )?(?:(?<kind>folder|directory|file) )?" +
  "[\"'`]?(?<to>[A-Za-z0-9_.~-](?:[^\\s\"'`,;:?!()]*[^\\s\"'`,;:?!().])?)[\"'`]?(?<folder> folder| directory)?";
const FORMS = [
  new RegExp(
    `${LEAD}(?:${anyOf(vocabulary.copyingVerbs)}) ${FILE} (?<link>${anyOf(vocabulary.copyLinks)}) ${TARGET}${TAIL}`,
    "i",
  ),
  new RegExp(
    `${LEAD}(?:make|create|put|save|place)(?: me)? a (?:second |backup )?(?:copy|duplicate|backup) of ${FILE} ` +
      `(?:(?:and )?(?<link>${anyOf(vocabulary.copyLinks)})) ${TARGET}${TAIL}`,
    "i",
  ),
];
const ENDED = /[^/]\.[A-Za-z0-9]+$/;
const NAMING: ReadonlySet<string> = new Set(vocabulary.copyNamings);
const NO_TARGETS: ReadonlySet<string> = new Set(vocabulary.noTargets);

/** The copy that a wish asks for; null for any other wish. */
export function copyingIn(wish: string): Copying | null {
  const text = wish.trim();
  const said = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  const { file = "", link = "", kind = "", to = "", folder = "" } = said ?? {};
  if (file === "" || NO_TARGETS.has(to.toLowerCase())) return null;
  const at = file.lastIndexOf("/") + 1;
  const isFolder = /^(?:folder|directory)$/i.test(kind) || folder !== "" || to.endsWith("/") || !ENDED.test(to);
  const isBeside = !to.includes("/") && NAMING.has(link.toLowerCase());
  const target = isFolder ? `${to.replace(/\/+$/, "")}/${file.slice(at)}` : isBeside ? `${file.slice(0, at)}${to}` : to;
  return target === file ? null : { file, to: target };
}
