import reasons from "./reasons.json" with { type: "json" };

/** Sentences of rules that the gateway brings along, by their English ones. What a policy's author wrote is in the author's words. */
export default Object.fromEntries(
  Object.entries(reasons).map(([english, text]) => [`why:${english}`, text]),
) as Readonly<Record<string, string>>;
