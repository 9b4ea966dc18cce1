import { shownTitle } from "../../ui/conversation-title.ts";
import { VisibleText } from "../../ui/VisibleText.tsx";

/** A conversation is called by the beginning of its first message; the mark of where that was cut is no part of the text. */
export function CutTitle({ title: kept }: { readonly title: string }) {
  const title = shownTitle(kept);
  const isCut = /.…$/.test(title);
  return (
    <>
      <VisibleText text={isCut ? title.slice(0, -1) : title} prose />
      {isCut && "…"}
    </>
  );
}
