import type { Observation } from "./messages.ts";

/**
 * Every sentence the loop says by itself, in one place: calm, and true whatever the model did. Models' own failures never
 * reach the screen as if they were answers.
 */
export const copy = {
  rephrase: "I could not turn that into an action or an answer. Please say it another way.",
  keptWork: "I lost the thread after that. What is done above stands; please ask for the rest separately.",
  capped:
    "I stopped after several steps so that this does not go on by itself. What is done stands. Please ask for the rest in a new message.",
  worded: "Done. The result is in the card above.",
  olderLeftOut: "The model no longer sees the oldest messages of this conversation: they do not fit any more.",
  resultCut: "A result was too long for the model, so it saw only the beginning. The card shows all of it.",
  noModel: "No model is available. Ask the operator to check the gateway with `countersign doctor`.",
  modelRefused: "The model did not accept the request.",
  modelSilent: "The model does not answer. Please try again in a moment.",
  notSent: "The connection was lost before your message arrived. It is back in the box; please send it again.",
  turnOver: "The connection was away for too long, so this turn ended. What is done stands.",
  superseded: "This turn was ended, by a newer one or in another tab. What is done stands.",
  notThere: "That does not exist, or it is not yours.",
  elsewhere: "This conversation goes on in another tab.",
  interrupted: "This answer was interrupted.",
  gatewayFailed: "The gateway could not do that. Please try again.",
  sessionOver: "Your session has ended.",
} as const;

/** What became of a call that gave no result, as a sentence about the tool. Unknown words fall back to the outcome. */
export function explainOutcome(tool: string, result: Observation): string {
  const name = `\`${tool}\``;
  switch (result.outcome) {
    case "ok":
      return `${name} is done.`;
    case "deniedByUser":
      return `You said no, so ${name} did not run.`;
    case "stepUpFailed":
      return result.reason === "noCredential"
        ? `There is no passkey that may confirm ${name}, so it did not run.`
        : `The passkey did not confirm ${name}, so it did not run.`;
    case "timedOut":
      return result.reason === "toolTimeout"
        ? `${name} took too long and was stopped. It may have done part of its work.`
        : `Nobody approved ${name} in time, so it did not run.`;
    case "cancelled":
      return result.reason === "sessionEnded"
        ? `${name} was cancelled because its turn or session ended.`
        : `${name} was cancelled.`;
    case "invalidArguments":
      return `${name} did not run: its arguments do not fit${why(result)}`;
    case "unknownTool":
      return `There is no tool called ${name} here.`;
    case "refusedByPolicy":
      return explainRefusal(name, result);
    case "executionError":
      return explainFailure(name, result);
  }
}

function explainRefusal(name: string, result: Observation): string {
  switch (result.reason) {
    case "forbidden":
      return `The policy does not allow ${name} here.`;
    case "quotaExceeded":
      return `${name} did not run: too many calls were made.`;
    case "policyChanged":
      return `The policy changed in the meantime, so ${name} did not run. Please ask again.`;
    case "replayConflict":
      return `${name} did not run: its call number was used before for something else.`;
    default:
      return `${name} did not run: its turn is over. Please ask again.`;
  }
}

function explainFailure(name: string, result: Observation): string {
  switch (result.reason) {
    case "outcomeUnknown":
      return `The gateway stopped while ${name} ran. Whether it took effect is unknown, and it is not repeated. Please check before you ask again.`;
    case "sourceUnavailable":
    case "sandboxUnavailable":
      return `${name} cannot run at the moment${why(result)}`;
    case "ledgerUnavailable":
      return `${name} did not run because it could not be recorded.`;
    default:
      return `${name} failed${why(result)}`;
  }
}

/** The gateway's own words, which begin in lower case and end without a stop, as the rest of a sentence. */
function why({ error }: Observation): string {
  const words = error?.trim() ?? "";
  if (words === "") return ".";
  return /[.!?]$/.test(words) ? `: ${words}` : `: ${words}.`;
}
