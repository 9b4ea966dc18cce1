import type { Approval } from "../../../protocol/generated.ts";

/** What the calls of one plan have in common: their conversation, and the call that the plan begins with. */
export function planOf({ conversationId, plan, callId }: Approval): string {
  return `${conversationId} ${plan?.first ?? callId}`;
}

/** Which call of its plan an approval is about, counted from 1. */
export function planStepOf({ plan }: Approval): number {
  return plan?.step ?? 1;
}

/** Of the approvals that wait for an answer, those of the plan that one belongs to, in the order in which their calls run. */
export function openParts(of: Approval, approvals: readonly Approval[]): readonly Approval[] {
  const parts = approvals.filter(
    (each) => each.status === "pending" && each.answered !== true && planOf(each) === planOf(of),
  );
  return parts.some(({ plan }) => plan !== undefined)
    ? parts.sort((one, other) => planStepOf(one) - planStepOf(other))
    : [of];
}

/** What waits, with the calls of a plan together: each list is one thing to look at. */
export function groupPlans(waiting: readonly Approval[]): readonly (readonly Approval[])[] {
  const plans = new Set(waiting.filter(({ plan }) => plan !== undefined).map(planOf));
  const groups = new Map<string, Approval[]>();
  for (const approval of waiting) {
    const plan = plans.has(planOf(approval)) ? planOf(approval) : approval.id;
    groups.set(plan, [...(groups.get(plan) ?? []), approval]);
  }
  return [...groups.values()].map((parts) => parts.sort((one, other) => planStepOf(one) - planStepOf(other)));
}
