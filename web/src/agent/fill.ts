/*
 * Apart from `render.ts`, which brings the prompts and the vocabulary: the loop's own sentences are in what the shell loads first.
 */

/**
 * A sentence with its `{blanks}` filled; one without a value stays. In one pass: what is filled in may look like a blank too.
 */
export function fill(sentence: string, valueFor: (name: string) => string | undefined): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (blank, name: string) => valueFor(name) ?? blank);
}
