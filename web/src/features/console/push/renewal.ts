import type { useAsk } from "../session.tsx";
import { addedHere, keepAdded } from "./added-here.ts";
import { canBeTold, digestOfSubscription, findDigest, subscribe } from "./this-browser.ts";

type Ask = ReturnType<typeof useAsk>;

/**
 * Where a browser has changed its subscription by itself, puts the new one in the place of the old. Only where the old one is
 * still on this person's list: what they took off it, or what another person added here, is not theirs to renew. Gives whether
 * anything was changed.
 */
export async function renewHere(ask: Ask): Promise<boolean> {
  // The worker tells every page that is open; the second of them finds that nothing is left to do.
  return "locks" in navigator ? navigator.locks.request("countersign.push", () => renew(ask)) : renew(ask);
}

async function renew(ask: Ask): Promise<boolean> {
  const before = addedHere();
  // Whoever would be asked for leave anew is asked when they press the button, not when they open a page.
  if (before === null || !canBeTold() || Notification.permission === "default") return false;
  if ((await findDigest()) === before) return false;
  const { key, devices } = await ask("push/list", {});
  const old = devices.find(({ digest }) => digest === before);
  if (key === undefined || old === undefined) {
    keepAdded(null);
    return false;
  }
  const subscribed = await subscribe(key);
  // The old one is dead, and would take the place of the new one where ten are there.
  await ask("push/remove", { device: old.id });
  await ask("push/add", { name: old.name, ...subscribed });
  keepAdded(await digestOfSubscription(subscribed));
  return true;
}
