import { codeOf } from "./text-segments.ts";
import styles from "./VisibleText.module.css";

/**
 * Controls but line breaks and tabs, changes of direction, what takes no room, and tag characters, in which whole texts can be
 * hidden. Joiners and variation selectors stay: Persian and emoji are written with them.
 */
const INVISIBLE =
  /((?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}])/u;

/** An external text that nobody decides about: its lines as they are, and characters that could deceive a reader as codes. */
export function ExternalText({ text }: { readonly text: string }) {
  const pieces = text.replaceAll("\r\n", "\n").split(INVISIBLE);
  return pieces.map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text never move
      <mark key={index} className={styles.escape}>
        {codeOf(piece)}
      </mark>
    ),
  );
}
