/** Where the keyboard is in a list, and from where a selection reaches to it. Both are tools' own names. */
export interface Place {
  readonly cursor: string | undefined;
  readonly anchor: string | undefined;
}

export const NOWHERE: Place = { cursor: undefined, anchor: undefined };

/** Where the cursor stands among `names`; at the first one when its tool is there no more. */
export function positionOf({ cursor }: Place, names: readonly string[]): number {
  return cursor === undefined ? 0 : Math.max(names.indexOf(cursor), 0);
}

/** First and last selected position, the same one for a single tool. */
export function rangeOf(place: Place, names: readonly string[]): readonly [number, number] {
  const cursor = positionOf(place, names);
  const anchor = place.anchor === undefined ? cursor : names.indexOf(place.anchor);
  return anchor < 0 ? [cursor, cursor] : [Math.min(cursor, anchor), Math.max(cursor, anchor)];
}

/** The place after the cursor went to `position`; `extend` keeps the other end of the selection where it is. */
export function goTo(place: Place, names: readonly string[], position: number, extend: boolean): Place {
  const cursor = names[Math.min(Math.max(position, 0), names.length - 1)];
  const from = place.anchor ?? names[positionOf(place, names)];
  return { cursor, anchor: extend ? from : undefined };
}

/** How far a key moves the cursor; undefined for a key that moves nothing. */
export function stepOf(key: string, length: number): number | undefined {
  switch (key) {
    case "ArrowDown":
    case "j":
    case "J":
      return 1;
    case "ArrowUp":
    case "k":
    case "K":
      return -1;
    case "PageDown":
      return 10;
    case "PageUp":
      return -10;
    case "Home":
      return -length;
    case "End":
      return length;
    default:
      return undefined;
  }
}
