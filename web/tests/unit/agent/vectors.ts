import { readFileSync } from "node:fs";

/** Where the golden vectors of a subject stand, which the Python agent's tests read too. */
function vectorsAt(subject: string): URL {
  return new URL(`../../../../tests/vectors/agent/${subject}.json`, import.meta.url);
}

export function readVectors<T>(subject: string): T {
  return JSON.parse(readFileSync(vectorsAt(subject), "utf8")) as T;
}
