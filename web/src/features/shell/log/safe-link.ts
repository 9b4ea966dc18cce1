/** The schemes that a link in a model's answer may have. Anything else is text. */
const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The address of a link that may be followed, or null. Relative ones are refused: a model has no reason to link to pages of this origin. */
export function safeLink(href: string): string | null {
  try {
    const url = new URL(href);
    return SCHEMES.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
