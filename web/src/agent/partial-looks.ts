import { copy } from "./copy.ts";
import { endsEarly } from "./figures.ts";
import { foundFiles, searches } from "./further.ts";
import type { ToolMessage } from "./messages.ts";

/*
 * What is said where a search found nothing and did not see all files: that it is no answer about those which it did not see.
 */

/** Words about these calls, with the sentence that the last of them looked at a part of the files, where it found none there. */
export function withPartTold(
  said: string,
  calls: readonly ToolMessage[],
  tools: Parameters<typeof foundFiles>[1],
): string {
  const last = calls.at(-1) as ToolMessage;
  const isPart = searches(last) && endsEarly(last.result.content) && foundFiles(last, tools).length === 0;
  return isPart && !said.endsWith(copy.lookedInPart) ? `${said}\n\n${copy.lookedInPart}` : said;
}
