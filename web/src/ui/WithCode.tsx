/** One of our own sentences, in which what stands between backticks is code. */
export function WithCode({ text }: { readonly text: string }) {
  return text.split("`").map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one sentence keep their places
    index % 2 === 0 ? part : <code key={index}>{part}</code>,
  );
}
