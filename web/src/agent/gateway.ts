import { RpcCode } from "../protocol/codes.ts";
import type { AgentMethods } from "../protocol/contract.ts";
import { ConnectionLost, RpcError, SessionOver } from "../protocol/rpc.ts";
import { ChatFailure } from "./chat.ts";
import { copy } from "./copy.ts";
import type { Observation } from "./messages.ts";

/** Calls the gateway's methods, as soon as there is a connection. */
export interface Gateway {
  call<K extends keyof AgentMethods & string>(
    method: K,
    params: AgentMethods[K]["params"],
    signal?: AbortSignal,
  ): Promise<AgentMethods[K]["result"]>;
}

/** The gateway refused a message as no well-formed call and has no record of it; the model hears of it as of any mistake. */
export function observeRefusal(error: RpcError): Observation {
  return {
    outcome: "invalidArguments",
    reason: "schema",
    error: error.message,
    content: "",
    trust: "trusted",
    truncated: false,
  };
}

/** A failure in words for the person. */
export function explainFailure(error: unknown, whenLost: string = copy.gatewayFailed): string {
  if (error instanceof SessionOver) return copy.sessionOver;
  if (error instanceof ConnectionLost) return whenLost;
  if (error instanceof RpcError && error.code === RpcCode.notFound) return copy.notThere;
  if (error instanceof RpcError) return `${copy.gatewayFailed} (${error.message})`;
  if (error instanceof ChatFailure) {
    return explainChatFailure(error);
  }
  return copy.gatewayFailed;
}

function explainChatFailure({ kind, message }: ChatFailure): string {
  switch (kind) {
    case "modelUnavailable":
      return `${copy.noModel} (${message})`;
    case "failed":
      return `${copy.modelFailed} (${message})`;
    case "refused":
      return `${copy.modelRefused} (${message})`;
    case "brokeOff":
      return copy.modelBrokeOff;
    case "unreachable":
    case "unauthorised":
      return copy.modelSilent;
  }
}
