import written from "../../../loop/wishes.json" with { type: "json" };

/*
 * The words by which a message is taken apart into wishes, read from `loop/wishes.json`, which the loop in Python reads too. What
 * each list is for stands where it is used.
 */

type ListName = Exclude<keyof typeof written, "irregularForms">;

/** One member for each list, in lower case. */
export const wishWords: Readonly<Record<ListName, readonly string[]>> & {
  readonly irregularForms: Readonly<Record<string, string>>;
} = written;
