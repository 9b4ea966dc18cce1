const HALF_CHARACTER = /\p{Cs}$/u;

/** The beginning of a text of an address. Half a character at its end would be no text that can be sent to the gateway. */
export function cutText(text: string, most: number): string {
  return text.slice(0, most).replace(HALF_CHARACTER, "");
}
