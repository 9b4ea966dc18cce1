import type { CallCard, Conversation } from "../../../agent/conversation.ts";

/**
 * Whether a call was sent and stands behind one of its turn that waits for a person. The gateway runs the calls of a turn one after
 * the other, so nothing of it has begun.
 */
export function isHeld(view: Pick<Conversation, "entries" | "calls">, card: CallCard): boolean {
  if (card.phase !== "running" || card.progress !== undefined) return false;
  for (const entry of view.entries) {
    if (entry.kind !== "call") continue;
    if (entry.callId === card.call.id) return false;
    const before = view.calls[entry.callId];
    if (before?.phase === "waiting" && before.turnId === card.turnId) return true;
  }
  return false;
}
