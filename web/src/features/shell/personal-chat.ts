import { estimateTokens } from "../../agent/budget.ts";
import type { Chat, ChatMessage } from "../../agent/chat.ts";
import { neutralise } from "../../agent/provenance.ts";
import type { ModelInfo } from "../../protocol/generated.ts";
import type { Settings } from "./settings.ts";

/** What a model's reply took. */
export interface RequestFigures {
  readonly tokens: number;
  /** Spent on these tokens, from the first of each request to its end. */
  readonly seconds: number;
}

const HEADING = "What this person wants of every answer, in their own words:";

/**
 * A chat as the person has set it. Their own words stand at the end of the system prompt, with the markers of chat templates
 * broken as in every other text; where a reply has to have a given form, the temperature of the loop stays.
 */
export function personalChat(
  chat: Chat,
  settings: Settings,
  onFigures: (figures: RequestFigures) => void,
  now: () => number,
): Chat {
  return async function* personal(request) {
    const began = now();
    let first: number | null = null;
    let tokens = 0;
    const messages = withInstructions(request.messages, settings.instructions);
    const temperature = request.schema === undefined ? settings.temperature : request.temperature;
    for await (const delta of chat({ ...request, messages, temperature })) {
      if (delta.kind === "usage") tokens = delta.completionTokens;
      else first ??= now();
      yield delta;
    }
    onFigures({ tokens, seconds: (now() - (first ?? began)) / 1_000 });
  };
}

/** The model with as much less context as the person's own words take of it. */
export function withRoom(model: ModelInfo, { instructions }: Settings): ModelInfo {
  if (instructions.trim() === "") return model;
  return { ...model, contextTokens: model.contextTokens - estimateTokens(`${HEADING}${instructions}`) };
}

function withInstructions(messages: readonly ChatMessage[], instructions: string): readonly ChatMessage[] {
  if (instructions.trim() === "") return messages;
  const words = `${HEADING}\n${neutralise(instructions.trim())}`;
  const [head, ...rest] = messages;
  return head?.role === "system"
    ? [{ ...head, content: `${head.content}\n\n${words}` }, ...rest]
    : [{ role: "system", content: words }, ...messages];
}
