import effects from "./effects.json" with { type: "json" };
import obstacles from "./obstacles.json" with { type: "json" };

/** Words that the gateway puts in the place of an argument, or beside one. */
const words: Readonly<Record<string, string>> = {
  "(not given)": "(nicht angegeben)",
  nothing: "nichts",
  yes: "ja",
  no: "nein",
  text: "Text",
  characters: "Zeichen",
  "nothing but the address": "nichts als die Adresse",
  "in the path": "im Pfad",
  "in the query": "in der Abfrage",
  "as headers": "als Kopfzeilen",
};

/** What the gateway's own tools say that a call will do, or why it cannot, by their English templates. What a tool's author wrote is in the author's words. */
export default Object.fromEntries([
  ...Object.entries({ ...effects, ...obstacles }).map(([english, text]) => [`call:${english}`, text]),
  ...Object.entries(words).map(([english, text]) => [`word:${english}`, text]),
]) as Readonly<Record<string, string>>;
