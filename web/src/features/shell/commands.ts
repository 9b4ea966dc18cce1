import type { Command } from "../../agent/slash.ts";
import { t } from "../../language/t.ts";
import type { ModelInfo, SessionDescription } from "../../protocol/generated.ts";
import { explainMistake } from "./command-words.ts";
import type { OpenConversation } from "./open-conversation.ts";
import type { AgentClient } from "./shell-environment.ts";

/** What a command needs of the page. */
export interface CommandContext {
  readonly client: AgentClient;
  /** The chosen model, asked for again if there was none; null if there still is none. */
  findModel(): Promise<ModelInfo | null>;
  /** What the gateway said of its models; null before it has. */
  models(): Pick<SessionDescription, "models" | "missingModels"> | null;
  chooseModel(conversationId: string, modelId: string): void;
  showGrants(): void;
  /** The conversation on the screen, or a new one named after `text`. */
  conversationFor(text: string): Promise<OpenConversation>;
  /** Whether images go with the next message. */
  hasImages(): boolean;
  /** Send ahead what the person has attached. Whether all of it came in. */
  sendFiles(conversation: OpenConversation): Promise<boolean>;
}

/** What became of what was typed. Text that was not taken stays in the message box. */
export type CommandOutcome = { readonly taken: true } | { readonly taken: false; readonly problem: string | null };

const TAKEN: CommandOutcome = { taken: true };

/** Runs what was typed: a message for the model or a command for the page. `/exit` is for the caller. */
export async function runCommand(command: Command, typed: string, context: CommandContext): Promise<CommandOutcome> {
  switch (command.kind) {
    case "mistake":
      return refused(explainMistake(command));
    case "message":
      return sendMessage(command.text, context);
    case "call": {
      const conversation = await context.conversationFor(typed);
      const { name, arguments: given } = command;
      return takenIf(await conversation.call(typed, { name, arguments: given }));
    }
    case "help": {
      const conversation = await context.conversationFor(typed);
      conversation.apply({ type: "panel:shown", panel: { kind: "help" } });
      return TAKEN;
    }
    case "model":
      return showModels(command.name, typed, context);
    case "grants":
      context.showGrants();
      return TAKEN;
    case "tools":
    case "inspect":
      return showTools(command, typed, context);
    case "exit":
      return TAKEN;
  }
}

async function sendMessage(text: string, context: CommandContext): Promise<CommandOutcome> {
  const model = await context.findModel();
  if (model === null) return refused(t`No model is available. \`countersign doctor\` says what is missing.`);
  if (context.hasImages() && !seesImages(model))
    return refused(t`${model.displayName} sees no images. Remove what you attached, or choose a model that does.`);
  const conversation = await context.conversationFor(text);
  if (!(await context.sendFiles(conversation)))
    return refused(t`What you attached was not taken in, so the message was not sent. Remove the file, or try again.`);
  return takenIf(await conversation.sendMessage(text, model));
}

/** A model that is led step by step is shown text alone. */
function seesImages({ seesImages: sees, tier = "native" }: ModelInfo): boolean {
  return sees === true && tier === "native";
}

async function showTools(
  command: Extract<Command, { readonly kind: "tools" | "inspect" }>,
  typed: string,
  context: CommandContext,
): Promise<CommandOutcome> {
  const conversation = await context.conversationFor(typed);
  const described = await context.client.call("tools/describe", { conversationId: conversation.id });
  const tools = described.tools.filter((each) => each.local !== true);
  const { obstacles = [] } = described;
  if (command.kind === "tools") {
    conversation.apply({ type: "panel:shown", panel: { kind: "tools", tools, obstacles, search: command.search } });
    return TAKEN;
  }
  const tool = tools.find(({ name }) => name === command.name);
  if (tool === undefined) return refused(t`There is no tool called \`${command.name}\` here.`);
  const obstacle = obstacles.find((each) => each.tools.includes(tool.name));
  conversation.apply({ type: "panel:shown", panel: { kind: "tool", tool, obstacle } });
  return TAKEN;
}

/** Show the models that there are and which one answers; with a name, that one does from now on in this conversation. */
async function showModels(name: string, typed: string, context: CommandContext): Promise<CommandOutcome> {
  const chosen = await context.findModel();
  const { models = [], missingModels: missing = [] } = context.models() ?? {};
  const [meant, ...others] = findModels(models, name);
  if (name !== "" && meant === undefined) {
    const absent = missing.find((each) => each.name === name);
    return refused(
      absent === undefined
        ? t`There is no model \`${name}\` here. \`/model\` shows which there are.`
        : t`${name}: not available, ${absent.why}`,
    );
  }
  if (name !== "" && others.length > 0) {
    const names = [meant, ...others].map((each) => `\`${each?.displayName}\``).join(", ");
    return refused(t`Which one is meant with \`${name}\`: ${names}?`);
  }
  const conversation = await context.conversationFor(typed);
  if (name !== "" && meant !== undefined) context.chooseModel(conversation.id, meant.id);
  const chosenId = (name === "" ? chosen : meant)?.id ?? null;
  conversation.apply({ type: "panel:shown", panel: { kind: "models", models, missing, chosenId } });
  return TAKEN;
}

/** The model that is meant by an id or a whole name; else all whose names hold what was typed. */
function findModels(models: readonly ModelInfo[], wanted: string): readonly ModelInfo[] {
  const exact = models.find(({ id, displayName }) => id === wanted || displayName === wanted);
  if (exact !== undefined) return [exact];
  return models.filter(({ displayName }) => displayName.toLowerCase().includes(wanted.toLowerCase()));
}

function takenIf(taken: boolean): CommandOutcome {
  return taken ? TAKEN : { taken, problem: null };
}

function refused(problem: string): CommandOutcome {
  return { taken: false, problem };
}
