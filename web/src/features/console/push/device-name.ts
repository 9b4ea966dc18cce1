import { t } from "../../../language/t.ts";

/** A short name for this device, from what its browser says about itself. */
export function guessName(agent: string): string {
  const find = (known: readonly string[]) => known.find((each) => agent.includes(each));
  const browser = find(["Firefox", "Edg", "OPR", "Chrome", "Safari"]) ?? "";
  const system = find(["Android", "iPhone", "iPad", "Windows", "Macintosh", "Linux"]) ?? "";
  const names: Readonly<Record<string, string>> = { Edg: "Edge", OPR: "Opera", Macintosh: "Mac" };
  return [browser, system].flatMap((each) => (each === "" ? [] : [names[each] ?? each])).join(", ") || t`This device`;
}
