import type { CountersignProtocol } from "./generated.ts";
import type { RpcConnection } from "./rpc.ts";

export type AgentMethods = CountersignProtocol["agent"]["methods"];
export type AgentNotifications = CountersignProtocol["agent"]["notifications"];
export type ConsoleMethods = CountersignProtocol["console"]["methods"];
export type ConsoleNotifications = CountersignProtocol["console"]["notifications"];

/** The shell's connection to the gateway. */
export type AgentConnection = RpcConnection<AgentMethods, AgentNotifications>;
/** The console's connection to the gateway. */
export type ConsoleConnection = RpcConnection<ConsoleMethods, ConsoleNotifications>;
