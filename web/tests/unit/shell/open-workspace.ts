import { Workspace } from "../../../src/features/shell/workspace.ts";
import type { WorkspaceState } from "../../../src/features/shell/workspace-state.ts";
import type { ToolRequest, ToolResult } from "../../../src/protocol/generated.ts";
import { pageOf, ScriptedClient } from "./scripted-client.ts";

/** A workspace over a scripted connection, with what its address names on the screen. `marks`: turns that the tab ran before. */
export async function start(client: ScriptedClient, replies: string[] = [], place: string | null = null, marks = "") {
  const page = pageOf(client, replies);
  page.environment.address.write(place);
  page.environment.keptInTab.write("turns-under-way", marks);
  const workspace = new Workspace(page.environment);
  await workspace.start();
  return { workspace, ...page };
}

/** Wait until the state holds. Bounded by the test's own time limit. */
export function until(workspace: Workspace, holds: (state: WorkspaceState) => boolean): Promise<WorkspaceState> {
  return new Promise((resolve) => {
    const look = () => {
      const state = workspace.getState();
      if (!holds(state)) return false;
      leave();
      resolve(state);
      return true;
    };
    const leave = workspace.subscribe(look);
    look();
  });
}
/** A gateway whose calls wait until the test lets them go. */
export function waitingTools() {
  let release: (result: ToolResult) => void = () => undefined;
  const client = new ScriptedClient({
    "tools/invoke": ({ call }: ToolRequest, signal?: AbortSignal) =>
      new Promise<ToolResult>((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        release = (result) => resolve({ ...result, callId: call.id });
      }),
  });
  return { client, release: (result: ToolResult) => release(result) };
}
