import { catalogue } from "../language/language.ts";
import { ExternalText } from "./ExternalText.tsx";
import { VisibleText } from "./VisibleText.tsx";

interface RuleSentenceProps {
  readonly why: string;
  /** Nobody decides by it. */
  readonly plain?: boolean;
}

/** Why a rule of the policy took part: in the page's language where the gateway brought the rule, else in its author's words. */
export function RuleSentence({ why, plain = false }: RuleSentenceProps) {
  const known = why.split("; ").map((each) => catalogue[`why:${each}`]);
  if (known.every((each) => each !== undefined)) return known.join("; ");
  return plain ? <ExternalText text={why} /> : <VisibleText text={why} prose />;
}
