import { questionIn } from "./affairs.ts";
import { copy } from "./copy.ts";
import { telling } from "./entries.ts";
import { cited } from "./excerpts.ts";
import { fieldsIn, type NamedField, spelt } from "./fields.ts";
import type { ResultSource } from "./figures.ts";
import { standsIn, termsIn } from "./ranking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * Whether something is on, where a file has a setting for it: "is debug on?" of `{"debug": false}`. A small model says yes to most of
 * these questions, so code reads the value.
 */

const ON: ReadonlySet<string> = new Set([...Object.keys(vocabulary.switchWords), "1"]);
const OFF: ReadonlySet<string> = new Set([...Object.values(vocabulary.switchWords), "0"]);
const KEYS: ReadonlySet<string> = new Set(vocabulary.switchKeys);
const STATES = anyOf(Object.entries(vocabulary.switchWords).flat());
const PLACE = `(?: (?:${anyOf(vocabulary.settingPlaces)}) [^ ]+)?`;
const LED = `(?:(?:${anyOf([...vocabulary.passingWords, "turned", "switched", "set to"])}) )*`;
const ASKED = new RegExp(
  `^(?:${anyOf(vocabulary.classifyingWords)}) (?:(?:${anyOf(vocabulary.pluralArticles)}) )?(?<what>.+?)(?: (?:${anyOf(vocabulary.switchNouns)}))?` +
    `${PLACE} ${LED}(?<state>${STATES})(?: or (?:not|${STATES}))?${PLACE}[?.! ]*$`,
  "i",
);

/** Yes or no, with the setting that says so; null where that is not asked, or where no setting or several say it. */
export function answerSwitch(wish: string, { name, text, whole, hasLines }: ResultSource): string | null {
  const { what = "", state = "" } = ASKED.exec(questionIn(wish))?.groups ?? {};
  const terms = what.split(" ").flatMap((word) => telling(word.toLowerCase()));
  if (terms.length === 0 || !hasLines || !whole) return null;
  const fields = fieldsIn(text, name).filter((each) => isOn(each) !== null);
  const named = fields.filter((each) => isNamed(each, terms, name));
  const inside = fields.filter((each) => KEYS.has(each.name.toLowerCase()) && belongs(each, terms, name));
  const meant = named.length > 0 ? named : inside;
  // Of two that are called so the one is meant that belongs to nothing else: "debug", and not that of "staging".
  const least = Math.min(...meant.map((each) => strangeOf(each, terms)));
  const [field, ...more] = meant.filter((each) => strangeOf(each, terms) === least);
  if (field === undefined || more.length > 0) return null;
  const said = isOn(field) === ON.has(state.toLowerCase()) ? copy.isSo : copy.isNotSo;
  const label = [...field.within.slice(-1), field.name, bareOf(field)].join(": ");
  return `${said} ${label} ${cited(name, [field.line])}`;
}

/** A value without quotes around it, or a comma behind it. */
function bareOf({ value }: NamedField): string {
  return value
    .trim()
    .replace(/[,;]+$/, "")
    .trim()
    .replaceAll(/^["']+|["']+$/g, "");
}

/** Whether a setting is on; null of one that is neither on nor off. */
function isOn(field: NamedField): boolean | null {
  const value = bareOf(field).toLowerCase();
  if (ON.has(value)) return true;
  return OFF.has(value) ? false : null;
}

/** Whether a setting is called so, what it belongs to counted in. */
function isNamed(field: NamedField, terms: readonly string[], file: string): boolean {
  const own = new Set(termsIn(spelt(field.name)));
  const around = new Set([...own, ...aroundOf(field, file)]);
  return terms.some((term) => standsIn(term, own)) && terms.every((term) => standsIn(term, around));
}

/** How much a setting belongs to that is not spoken of. */
function strangeOf({ within }: NamedField, terms: readonly string[]): number {
  const groups = within.map((each) => new Set(termsIn(spelt(each))));
  return groups.filter((held) => !terms.some((term) => standsIn(term, held))).length;
}

/** Whether what is called so has the setting. */
function belongs(field: NamedField, terms: readonly string[], file: string): boolean {
  const around = new Set(aroundOf(field, file));
  return terms.every((term) => standsIn(term, around));
}

/** The terms of what a setting belongs to. */
function aroundOf({ within }: NamedField, file: string): string[] {
  return termsIn([...within.map(spelt), file].join(" "));
}
