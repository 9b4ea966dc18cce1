import { Link } from "wouter";
import { t } from "../../../language/t.ts";
import { paths } from "../paths.ts";
import { useIsOperator } from "../session.tsx";

interface ExplainedCall {
  readonly conversationId: unknown;
  readonly callId: unknown;
}

/** Why the policy decided about a call as it did: for whoever may read its rules. A record that is about no call has no link. */
export function ExplainLink({ conversationId, callId }: ExplainedCall) {
  const operator = useIsOperator();
  if (!operator || typeof conversationId !== "string" || typeof callId !== "string") return null;
  return (
    <p>
      <Link href={paths.explainCall(conversationId, callId)}>{t`Why the policy decided so`}</Link>
    </p>
  );
}
