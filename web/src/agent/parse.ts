/** What a model in the JSON lane meant. */
export type Action =
  | { readonly kind: "call"; readonly tool: string; readonly arguments: Record<string, unknown> }
  | { readonly kind: "answer"; readonly text: string }
  /** `reason` completes "Your last reply was not a valid action: …". */
  | { readonly kind: "malformed"; readonly reason: string };

/**
 * The first complete top-level JSON object in a text, or null while there is none. Braces inside strings do not count, nor
 * do escaped quotes; what stands before and after is passed over.
 */
export function firstObject(text: string): string | null {
  const start = text.indexOf("{");
  if (start < 0) return null;
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === "\\") at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return text.slice(start, at + 1);
  }
  return null;
}

/** Read `{"tool": …, "arguments": {…}}` or `{"answer": "…"}` out of what a model wrote, fences and prose around it or not. */
export function parseAction(text: string): Action {
  const object = firstObject(text);
  if (object === null)
    return malformed(text.includes("{") ? "the JSON object does not end" : "there is no JSON object");
  let value: unknown;
  try {
    value = JSON.parse(object);
  } catch {
    return malformed("it is not valid JSON");
  }
  if (!isObject(value)) return malformed("it is not a JSON object");
  const { tool, answer, arguments: given = {} } = value;
  if (typeof tool === "string" && tool !== "") {
    return isObject(given) ? { kind: "call", tool, arguments: given } : malformed("`arguments` is not an object");
  }
  if (typeof answer === "string") return { kind: "answer", text: answer };
  return malformed("it has neither `tool` nor `answer`");
}

/** The part of `{"answer": "…` that has been written so far, or null when the text is not (or not yet) an answer. */
export function partialAnswer(text: string): string | null {
  const opening = /^\s*\{\s*"answer"\s*:\s*"/.exec(text);
  if (opening === null) return null;
  let end = opening[0].length;
  while (end < text.length && text[end] !== '"') {
    if (text[end] === "\\") {
      const sequence = /^\\(?:u[0-9a-fA-F]{4}|[^u])/.exec(text.slice(end));
      if (sequence === null) break;
      end += sequence[0].length;
    } else end++;
  }
  // Half of a surrogate pair waits for the other half.
  const body = text.slice(opening[0].length, end).replace(/(?:[\ud800-\udbff]|\\u[dD][89abAB][0-9a-fA-F]{2})$/, "");
  try {
    return JSON.parse(`"${body.replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r")}"`) as string;
  } catch {
    return null;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function malformed(reason: string): Action {
  return { kind: "malformed", reason };
}
