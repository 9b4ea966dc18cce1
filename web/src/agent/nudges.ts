import limits from "../../../loop/limits.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import { anyOf } from "./vocabulary.ts";

/*
 * Prose that announces a step and takes none: how it is told from an answer, and what a model hears then. Being told is
 * rarely worth more than three tries; after that the loop says so calmly and stops. The words of an announcement stand in
 * prompts.json, under `planning`.
 */

/** requirement 003-07. */
export const MAX_NUDGES = limits.nudges;

/** Characters; who writes more than this has written something. */
const LONGEST_PLAN = limits.planCharacters;

const SENTENCE_END = /[.!?:;…]+(?=[ \t\r\n]|$)|[\r\n]+/;
const NUMBERED = /^(?:[0-9]{1,2}[.)]?(?=[ \t]|$)|[-*])?[ \t]*/;

const { before, who, between, does, fillers } = words.planning;
const ANNOUNCEMENT = new RegExp(
  `^(?:(?:${anyOf(before)}),?[ \\t]+){0,3}(?:${anyOf(who)})(?:[ \\t]+(?:${anyOf(between)}))*[ \\t]+(?:${anyOf(does)})\\b`,
  "i",
);
const FILLER = new RegExp(`^(?:${anyOf(fillers)})$`, "i");

/** Whether a reply holds nothing but announced steps, each of which a tool would take. A question is an answer. */
export function looksLikePlanning(text: string): boolean {
  const said = text.replaceAll("\u2019", "'").trim();
  if (said.endsWith("?") || said.length > LONGEST_PLAN) return false;
  const told = said
    .split(SENTENCE_END)
    .map((part) => part.replace(/^[ \t]+|[ \t]+$/g, "").replace(NUMBERED, ""))
    .filter((part) => part !== "" && !FILLER.test(part));
  return told.length > 0 && told.every((part) => ANNOUNCEMENT.test(part));
}

/** The message that a model gets the `number`-th time, from 1; the last words serve for all that follow. */
export function nudge(number: number): { readonly role: "user"; readonly content: string } {
  const { nudges } = words;
  return { role: "user", content: nudges[Math.min(number, nudges.length) - 1] as string };
}
