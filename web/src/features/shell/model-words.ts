import { t } from "../../language/t.ts";
import type { ModelInfo } from "../../protocol/generated.ts";

/**
 * A model by name, with where it runs and what is known of what it can do. What nobody measured is not said. One that would not
 * answer now can be chosen all the same, since the next question asks its server again; so the reason stands beside its name.
 */
export function describeModel({ displayName, local, seesImages, toolCallRank, trouble }: ModelInfo): string {
  return [
    local ? displayName : t`${displayName} (not on this machine)`,
    ...(seesImages ? [t`sees images`] : []),
    ...(toolCallRank === undefined ? [] : [t`does ${toolCallRank} % of the test tasks`]),
    ...(trouble === undefined ? [] : [t`would not answer now: ${trouble}`]),
  ].join(", ");
}
