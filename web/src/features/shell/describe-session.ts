import type { SessionDescription } from "../../protocol/generated.ts";
import { setClock } from "../../ui/clock.ts";
import type { AgentClient } from "./shell-environment.ts";

/** Who is signed in and what they may use, as the gateway has it now; the page goes by its clock from then on. */
export async function describeSession(client: Pick<AgentClient, "call">): Promise<SessionDescription> {
  const asked = Date.now();
  const session = await client.call("session/describe", {});
  setClock(session.at, asked, Date.now());
  return session;
}

/** Ask again whenever a lost connection is back, until the function is called: a device that slept may show another time. */
export function describeAfterLoss(client: Pick<AgentClient, "call" | "onState" | "state">): () => void {
  let lost = false;
  return client.onState(() => {
    if (client.state.phase === "lost") lost = true;
    if (client.state.phase !== "open" || !lost) return;
    lost = false;
    // If it is lost again before the answer, it is asked the next time.
    describeSession(client).catch(() => undefined);
  });
}
