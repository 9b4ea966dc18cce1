import written from "../../../loop/claims.json" with { type: "json" };

/*
 * The words by which a model claims an act, read from `loop/claims.json`, which the loop in Python reads too. What each list is
 * for stands where it is used. A verb is written with its forms, `write wrote written writing`, and with a `+` before each word of
 * which one has to follow it. States, completions, events and places are regular expressions.
 */

/** How a word stands for an act: "delete", "deleted", "put", which is both, "deleting", and what it brings about: "gone". */
export type Form = "base" | "past" | "same" | "going on" | "state";

/** A form of one verb, and the words of which one has to follow; none where it stands for itself. */
interface ActForm {
  readonly act: string;
  readonly form: Form;
  readonly particles: readonly string[];
}

interface ActPhrases {
  readonly verbs: readonly string[];
  readonly nouns: readonly string[];
  readonly states: readonly string[];
}

export const claimWords = written;
export const ACT_PHRASES: readonly (readonly [string, ActPhrases])[] = Object.entries(written.acts);
export const SPELLED: ReadonlyMap<string, string> = new Map(Object.entries(written.spelled));

const WHOLE: ReadonlySet<string> = new Set(written.whole);
const BARE = 3;
const FORMS: ReadonlyMap<string, readonly ActForm[]> = readForms();

/** What a word may stand for. */
export function formsOf(word: string): readonly ActForm[] {
  return FORMS.get(word) ?? [];
}

function readForms(): Map<string, ActForm[]> {
  const forms = new Map<string, ActForm[]>();
  for (const [act, { verbs }] of ACT_PHRASES)
    for (const verb of verbs) {
      const parts = verb.split(" ");
      const particles = parts.filter((part) => part.startsWith("+")).map((part) => part.slice(1));
      const [base = "", ...rest] = parts.filter((part) => !part.startsWith("+"));
      const past = rest.slice(0, -1);
      const spelled = new Map<string, Form>([[base, "base"], ...past.map((word) => [word, "past"] as const)]);
      for (const word of rest.slice(-1)) spelled.set(word, "going on");
      if (past.includes(base)) spelled.set(base, "same");
      for (const [word, form] of spelled) forms.set(word, [...(forms.get(word) ?? []), { act, form, particles }]);
    }
  return forms;
}

/** One of these phrases, as whole words of a clause. */
export function anyPhrase(phrases: readonly string[]): RegExp {
  return phrases.length > 0 ? new RegExp(`(?<!\\S)(?:${phrases.join("|")})(?!\\S)`, "g") : /(?!)/g;
}

/** Whether one of the phrases stands in a text. */
export function holds(text: string, phrases: RegExp): boolean {
  return text.search(phrases) >= 0;
}

/** Whether a clause speaks of everything: "both are deleted". */
export function speaksOfAll(words: readonly string[]): boolean {
  return words.some((word) => WHOLE.has(word));
}

/** Whether words for the end of work mean all that was asked for: "all is done", or a bare "Done". */
export function endsAll(words: readonly string[]): boolean {
  return words.length <= BARE || speaksOfAll(words);
}
