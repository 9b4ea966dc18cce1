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
