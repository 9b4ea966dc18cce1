import type {
  Approval,
  ApprovalStatus,
  MissingModel,
  ModelInfo,
  ToolCall,
  ToolDescriptor,
  ToolObstacle,
} from "../protocol/generated.ts";
import type { Observation } from "./messages.ts";

/** How a turn came to its end. */
export type TurnOutcome =
  | "answered"
  /** The person pressed stop. */
  | "stopped"
  /** The loop had as many steps as it may. */
  | "capped"
  /** Something outside the loop failed; a notice says what. */
  | "failed";

/** The answer to a command: made by the page, not by a model. */
export type Panel =
  | {
      readonly kind: "tools";
      readonly tools: readonly ToolDescriptor[];
      readonly obstacles: readonly ToolObstacle[];
      /** What is looked for at first. */
      readonly search: string;
    }
  | { readonly kind: "tool"; readonly tool: ToolDescriptor; readonly obstacle: ToolObstacle | undefined }
  | {
      readonly kind: "models";
      readonly models: readonly ModelInfo[];
      readonly missing: readonly MissingModel[];
      /** Which of them answers. */
      readonly chosenId: string | null;
    }
  | { readonly kind: "help" };

/** What happens in a conversation, as the loop and the gateway tell it. Everything on the screen follows from these. */
export type AgentEvent =
  | {
      readonly type: "turn:begun";
      readonly turnId: string;
      readonly text: string;
      readonly tools: readonly ToolDescriptor[];
    }
  | { readonly type: "turn:resumed"; readonly turnId: string; readonly tools: readonly ToolDescriptor[] }
  /** The person has said more, and the loop goes on from it with its next step. */
  | { readonly type: "turn:steered"; readonly text: string }
  /** `label` names the tools that were used, in order: `tool:write_file+list_directory`, or `words`. */
  | { readonly type: "turn:ended"; readonly ending: TurnOutcome; readonly label: string }
  /** The message asks for several actions, which are taken one after the other. */
  | { readonly type: "actions:split"; readonly actions: readonly string[] }
  | { readonly type: "action:begun"; readonly index: number }
  | { readonly type: "model:asked" }
  /** No model can answer yet and the loop waits for it; `state` is the gateway's word. */
  | { readonly type: "model:waited-for"; readonly state: string | undefined }
  | { readonly type: "text:streamed"; readonly delta: string }
  | { readonly type: "text:discarded" }
  | { readonly type: "assistant:said"; readonly content: string; readonly stopped: boolean }
  | { readonly type: "call:proposed"; readonly call: ToolCall; readonly tool?: ToolDescriptor }
  | { readonly type: "call:sent"; readonly callId: string }
  | { readonly type: "call:progressed"; readonly callId: string; readonly message: string; readonly fraction?: number }
  | { readonly type: "call:closed"; readonly callId: string; readonly result: Observation }
  | { readonly type: "approval:requested"; readonly approval: Approval }
  /** It still waits, and more people have approved it than before. */
  | { readonly type: "approval:changed"; readonly approval: Approval }
  | { readonly type: "approval:resolved"; readonly callId: string; readonly status: ApprovalStatus }
  | { readonly type: "tokens:counted"; readonly used: number; readonly limit: number; readonly exact: boolean }
  /** The model sees a summary in the place of older messages from now on. */
  | { readonly type: "context:condensed" }
  /** What has to stay takes more than the model can hold, both in tokens: something will be missing. */
  | { readonly type: "context:filled"; readonly used: number; readonly limit: number }
  | { readonly type: "context:trimmed"; readonly droppedTurns: number }
  | { readonly type: "panel:shown"; readonly panel: Panel }
  | { readonly type: "notice:raised"; readonly tone: "info" | "danger"; readonly text: string };

export type Emit = (event: AgentEvent) => void;
