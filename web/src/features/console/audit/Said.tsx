import { catalogue } from "../../../language/language.ts";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { wordingFrom } from "../../../verifier/wording.ts";

/** What a check says, in the page's language, from the catalogue of the page that checks without a gateway. */
export const checkWords = wordingFrom(
  Object.fromEntries(
    Object.entries(catalogue).flatMap(([key, text]) => (key.startsWith("check:") ? [[key.slice(6), text]] : [])),
  ),
);

/** A sentence of a check. Between its backticks stands what the record says, which is code and shown inert. */
export function Said({ text }: { readonly text: string }) {
  return checkWords(text)
    .split("`")
    .map((part, index) =>
      index % 2 === 0 ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one sentence keep their places
        <VisibleText key={index} text={part} prose />
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <code key={index}>
          <VisibleText text={part} />
        </code>
      ),
    );
}
