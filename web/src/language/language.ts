/** The languages of the pages. English is in the source, where it is read; each other one is a catalogue of its own. */
export type Language = "en" | "de";

/** Each language by its own name, for whoever does not read the present one. */
export const LANGUAGES: readonly (readonly [Language, string])[] = [
  ["en", "English"],
  ["de", "Deutsch"],
];

type Catalogue = Readonly<Record<string, string>>;

/** Where each app remembers the language: their origins differ, so each remembers its own. */
const KEY = "countersign.language";

/** The language of this page, until it loads again. */
export const language: Language = wanted();

/** The other language's texts by the English ones. Modules may hold texts in constants, so all of them wait for it. */
export const catalogue: Catalogue = language === "de" ? await german() : {};

if (typeof document !== "undefined") document.documentElement.lang = language;

/** Shows the page in this language, now and the next time. */
export function speak(chosen: Language): void {
  localStorage.setItem(KEY, chosen);
  window.location.reload();
}

/** What was chosen here, else the first of the browser's languages that there is, else English. */
function wanted(): Language {
  if (typeof document === "undefined") return "en";
  for (const tag of [remembered(), ...navigator.languages]) {
    const known = LANGUAGES.find(([each]) => each === tag?.split("-")[0]);
    if (known !== undefined) return known[0];
  }
  return "en";
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // A browser that keeps nothing for this site still has languages of its own.
  }
}

/** Without its texts the page still works, in English. */
async function german(): Promise<Catalogue> {
  try {
    return (await (import.meta.env.MODE === "shell" ? import("./de/shell.ts") : import("./de/console.ts"))).default;
  } catch {
    return {};
  }
}
