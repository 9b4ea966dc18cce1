import loop from "../../../../loop/copy.de.json" with { type: "json" };

/** What the agent loop says by itself, each sentence by where `loop/copy.json` or `prompts.json` has the English one. */
export default Object.fromEntries([
  ...Object.entries(loop.says).map(([name, text]) => [`loop:${name}`, text]),
  ...Object.entries(loop.fixed).map(([tool, text]) => [`loop:fixed.${tool}`, text]),
  ...Object.entries(loop.outcomes).flatMap(([outcome, sentences]) =>
    Object.entries(sentences).map(([reason, text]) => [`loop:${outcome}.${reason}`, text]),
  ),
]) as Readonly<Record<string, string>>;
