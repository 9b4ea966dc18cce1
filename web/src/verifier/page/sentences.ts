/**
 * What each record says, in a sentence for somebody who has seen neither the gateway nor its console. The console's words for events
 * are not used: they stand in a table beside the person, the tool and the outcome, and whoever reads this page reads one folder only.
 */

import german from "../../language/de/verifier-events.json" with { type: "json" };
import type { JsonObject } from "../json.ts";
import { shown } from "./shown.ts";
import { pageLanguage } from "./words.ts";

/** By event; behind it, of a call whether its tool ran, how it came out, and why. */
export const EVENT_SENTENCES: Readonly<Record<string, string>> = {
  "agent-session:ended": "A person's session with the agent ended",
  "agent-session:label-raised":
    "A session came to hold more confidential content and is bound more tightly from now on",
  "agent-session:questions-allowed": "A person lets the agent of a session ask again",
  "agent-session:started": "A person's session with the agent began",
  "approval:break-glass": "One person approved alone what takes several, in an emergency",
  "approval:given": "One of several people whose approval is needed approved",
  "approval:requested": "A person was asked whether {tool} may run",
  "approval:resolved": "A question about a call was settled",
  "approval:resolved approved": "A person approved the call that was asked about",
  "approval:resolved denied": "The call that was asked about was denied",
  "approval:resolved expired": "No answer that counts came in time, so that the call may not run",
  "approval:resolved cancelled": "The question was withdrawn before an answer to it counted",
  "assertion:refused": "The answer of a passkey was not accepted",
  "audit-key:rotated": "The log is signed with another key from here on, which the one before signed for",
  "call:closed": "The call of {tool} ended",
  "call:closed ran ok": "{tool} ran and gave a result",
  "call:closed ran executionError": "{tool} did not come to a result",
  "call:closed ran executionError toolError": "{tool} ran and failed",
  "call:closed ran timedOut": "{tool} was ended because it took too long",
  "call:closed ran cancelled": "The call of {tool} was cancelled while it ran",
  "call:closed not run": "{tool} did not run",
  "call:closed not run refusedByPolicy": "{tool} did not run: the gateway refused it",
  "call:closed not run refusedByPolicy forbidden": "{tool} did not run: the policy forbids it",
  "call:closed not run deniedByUser": "{tool} did not run: no person approved it",
  "call:closed not run stepUpFailed": "{tool} did not run: it was not confirmed with a passkey",
  "call:closed not run executionError": "{tool} did not run: it could not be carried out",
  "call:closed not run timedOut approvalExpired": "{tool} did not run: it was not approved in time",
  "call:closed not run timedOut toolTimeout": "{tool} did not run: it could not begin in time",
  "call:closed not run cancelled": "The call of {tool} was cancelled before it ran",
  "call:closed not run invalidArguments": "{tool} did not run: its arguments were not valid",
  "call:closed not run unknownTool": "{tool} did not run: there was no such tool on offer",
  "call:found-unknown": "A call was under way, and nobody knows how it ended",
  "call:intended": "{tool} was about to run, which was put on record first",
  "call:refused": "A call was refused: it bore the id of another one",
  "call:result-discarded": "A result came too late and was discarded",
  "client-token:minted": "A program was given a token to call with",
  "client-token:refused": "A program showed a token that does not hold",
  "client-token:revoked": "A program's token was withdrawn",
  "client:granted": "A person let a program act for them",
  "clock:set-back": "The clock of the machine was found set back",
  "console-session:ended": "A person signed out of the console",
  "console-session:renewed": "A person confirmed with the passkey that it is still them",
  "console-session:started": "A person signed in to the console",
  "conversation:deleted": "A conversation was deleted",
  "conversation:opened": "A conversation began",
  "conversation:tainted": "A conversation came to hold content that nobody vouches for",
  "elicitation:asked": "A server of tools asked the person a question",
  "elicitation:resolved": "The question of a server of tools was settled",
  "enrolment:offered": "A link was made with which a person can enrol",
  "gateway:started": "The gateway started",
  "grant:issued": "A person allowed calls of {tool} for some time",
  "grant:revoked": "What a person had allowed for some time was withdrawn",
  "inference-token:minted": "The agent was given a token to ask the model with",
  "inference:finished": "The model ended an answer",
  "inference:refused": "A request to the model was refused",
  "local-operator:added": "Whoever works at this machine was made an operator",
  "message:appended": "A message was added to a conversation",
  "passkey:added": "A passkey was registered for a person",
  "passkey:removed": "A person's passkey was removed",
  "passkey:used": "A passkey was used",
  "policy-shadow:ended": "The trial of a policy ended",
  "policy-shadow:started": "A policy is tried beside the one in force",
  "policy-signature:refused": "A signature under a policy was not accepted",
  "policy:frozen": "A person stopped all calls",
  "policy:loaded": "A policy came into force",
  "policy:proposed": "A person proposed another policy",
  "policy:published": "Another policy was signed and published",
  "policy:thawed": "Calls may run again",
  "principal:enrolled": "A person was enrolled",
  "principal:profile-changed": "What a person may do was changed",
  "principal:removed": "A person was removed",
  "principal:resumed": "A person who was shut out was let in again",
  "principal:suspended": "A person was shut out",
  "push-device:added": "A device is told of questions from now on",
  "push-device:removed": "A device is told of questions no longer",
  "records:erased": "The content of records was erased, and their digests stayed",
  "records:lost": "Records were lost, and the log was begun anew after them",
  "secret:removed": "A secret of the gateway was removed",
  "secret:stored": "A secret was given to the gateway to keep",
  "setting-change:refused": "A change of a setting was refused",
  "setting:changed": "A person changed a setting of the gateway",
  "sign-in:refused": "Somebody could not sign in",
  "snapshot:issued": "The agent was told which tools it may call",
  "source-sign-in:failed": "Signing in to a source of tools failed",
  "source-sign-in:started": "Signing in to a source of tools began",
  "source-tokens:renewed": "A source of tools gave a new token",
  "source-tool:decided": "A person decided about a tool of a source",
  "source-tools:seen": "A source named the tools that it has",
  "source:added": "A source of tools was added",
  "source:changed": "The settings of a source of tools were changed",
  "source:removed": "A source of tools was removed",
  "source:signed-in": "The gateway signed in to a source of tools",
  "source:signed-out": "The gateway signed out of a source of tools",
  "source:switched": "A source of tools was switched on or off",
  "turn:begun": "The agent began to work on a request",
  "turn:ended": "The agent ended its work on a request",
  "turn:questions-allowed": "A person lets the agent ask again in this turn",
};

/** By the member of a closing record that says so. A call that failed or ran out of time may have done so before its tool ran. */
const RAN: ReadonlyMap<unknown, string> = new Map([
  [true, "ran"],
  [false, "not run"],
]);

/** Characters of a tool's name that are shown. */
const LONGEST = 80;

/** The sentence of a record; null for an event that no sentence tells. */
export function sentenceOf(body: JsonObject): string | null {
  const told = namesOf(body).map((name) => own(EVENT_SENTENCES, name));
  const english = told.find((sentence) => sentence !== undefined);
  if (english === undefined) return null;
  const sentence = pageLanguage === "de" ? own(german, english) : english;
  const tool = typeof body.tool === "string" ? body.tool : "?";
  return (sentence ?? english).replace("{tool}", () => `\u201c${shown(tool.slice(0, LONGEST))}\u201d`);
}

/** What the table may have a record under, the most exact first. */
function namesOf({ event, status, executed, outcome, reason }: JsonObject): readonly string[] {
  const ran = RAN.get(executed);
  const told = [[event, ran, outcome, reason], [event, ran, outcome], [event, ran], [event, status], [event]];
  return told.map((words) => words.join(" "));
}

function own(sentences: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(sentences, name) ? sentences[name] : undefined;
}
