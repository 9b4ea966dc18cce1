import { t } from "../../../language/t.ts";
import type { AuditFilter } from "../../../protocol/generated.ts";
import { cutText } from "./cut-text.ts";

/** Which entries are shown, as written in the address: a view can be bookmarked and sent. */
export interface AuditView {
  readonly event: string;
  readonly tool: string;
  readonly outcome: string;
  readonly conversation: string;
}

export function readView(search: string): AuditView {
  const params = new URLSearchParams(search);
  const read = (name: string) => cutText(params.get(name) ?? "", 128);
  return { event: read("event"), tool: read("tool"), outcome: read("outcome"), conversation: read("conversation") };
}

export function writeView(view: AuditView): string {
  const params = new URLSearchParams(Object.entries(view).filter(([, value]) => value !== ""));
  const search = params.toString();
  return search === "" ? "" : `?${search}`;
}

/** The filter of `audit/list`; undefined when nothing is asked for. */
export function filterOf({ event, tool, outcome, conversation }: AuditView): AuditFilter | undefined {
  const filter: AuditFilter = {
    ...(event && { event }),
    ...(tool && { tool }),
    ...(outcome && { outcome }),
    // An id has at most 64 characters; a longer one would be a malformed request instead of an unknown conversation.
    ...(conversation && { conversationId: cutText(conversation, 64) }),
  };
  return Object.keys(filter).length === 0 ? undefined : filter;
}

/** What most people look for; any other event can be typed into the address. */
export const EVENTS: readonly (readonly [string, string])[] = [
  ["", t`Any event`],
  ["call:intended", t`Call about to run`],
  ["call:closed", t`Call closed`],
  ["call:refused", t`Call refused`],
  ["call:found-unknown", t`Call with unknown outcome`],
  ["approval:requested", t`Approval requested`],
  ["approval:resolved", t`Approval decided`],
  ["assertion:refused", t`Passkey answer refused`],
  ["grant:issued", t`Grant issued`],
  ["grant:revoked", t`Grant revoked`],
  ["console-session:started", t`Signed in`],
  ["sign-in:refused", t`Sign-in refused`],
  ["policy:loaded", t`Policy loaded`],
  ["records:lost", t`Records lost`],
  ["audit-key:rotated", t`Log's key changed`],
];

/** The outcomes of requirement 002-43 and their labels. */
export const OUTCOMES: readonly (readonly [string, string])[] = [
  ["", t`Any outcome`],
  ["ok", t`Ran`],
  ["refusedByPolicy", t`Refused by policy`],
  ["deniedByUser", t`Denied by a person`],
  ["stepUpFailed", t`Step-up failed`],
  ["executionError", t`Failed while running`],
  ["timedOut", t`Timed out`],
  ["cancelled", t`Cancelled`],
  ["invalidArguments", t`Invalid arguments`],
  ["unknownTool", t`Unknown tool`],
];
