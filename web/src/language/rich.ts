import { createElement, Fragment, type ReactNode } from "react";
import { type Piece, piecesOf, wordingOf } from "./t.ts";

/** What may stand in a message: something to show, or what shows a part of the message, as a link does. */
type Holding = ReactNode | ((inner: ReactNode) => ReactNode);

/** A text in the page's language that holds elements: rich`Read ${(inner) => <a href={help}>{inner}</a>}<the help> first.` */
export function rich(parts: TemplateStringsArray, ...values: readonly Holding[]): ReactNode {
  return show(piecesOf(parts), values);
}

function show(pieces: readonly Piece[], values: readonly Holding[]): ReactNode {
  const nodes = pieces.map((piece): ReactNode => {
    if (typeof piece === "string") return piece;
    const value = values[piece.at];
    if (typeof value === "function") return value(show(piece.inner ?? [], values));
    return piece.forms === undefined && typeof value !== "number" ? value : wordingOf(piece, values);
  });
  return createElement(Fragment, null, ...nodes);
}
