/** The ends of a long text that stay on screen. Nobody may hide the sensitive end of a value behind its length. */
export interface FoldedText {
  readonly head: string;
  readonly tail: string;
  /** Characters (code points) between the two. */
  readonly hidden: number;
}

const FOLD_ABOVE = 1_500;
const HEAD = 700;
const TAIL = 400;
const LINES_ABOVE = 30;
const HEAD_LINES = 14;
const TAIL_LINES = 8;

/** How to fold `text`, or undefined when it is short enough to stand whole: 1,500 characters and 30 lines. */
export function foldText(text: string): FoldedText | undefined {
  const characters = [...text];
  const breaks = characters.flatMap((char, index) => (char === "\n" ? [index] : []));
  if (characters.length <= FOLD_ABOVE && breaks.length < LINES_ABOVE) return undefined;
  const headEnd = Math.min(HEAD, breaks[HEAD_LINES - 1] ?? HEAD);
  const tailStart = Math.max(characters.length - TAIL, (breaks.at(-TAIL_LINES) ?? -1) + 1, headEnd);
  return {
    head: characters.slice(0, headEnd).join(""),
    tail: characters.slice(tailStart).join(""),
    hidden: tailStart - headEnd,
  };
}
