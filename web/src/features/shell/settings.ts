import type { KeyboardEvent } from "react";
import type { Theme } from "../../ui/theme.ts";
import type { KeptTexts, ShellEnvironment } from "./shell-environment.ts";

/** What sends what is written: Enter, or Enter together with Ctrl or Command. */
export type SendKey = "enter" | "withCtrl";

/** What a person has set for the shell, in this browser. */
export interface Settings {
  readonly theme: Theme;
  /** The model of conversations for which none was chosen; empty for the first that there is. */
  readonly modelId: string;
  readonly sendKey: SendKey;
  /** How freely a model chooses its words, from 0 to `HOTTEST`. It does not count where the loop asks for one of a few forms. */
  readonly temperature: number;
  /** Rounds of tool calls that a turn may have, at most `MOST_STEPS`. */
  readonly steps: number;
  /** What the person wants of every answer, in their own words. */
  readonly instructions: string;
  /** Whether a question that waits and the end of a long turn can be heard. */
  readonly sound: boolean;
}

export const HOTTEST = 2;
/** As many as the loop takes (`loop/limits.json`, `rounds`). */
export const MOST_STEPS = 8;
/** Characters: about 500 tokens, an eighth of a small model's context. */
export const LONGEST_INSTRUCTIONS = 2_000;

const initial: Settings = {
  theme: "system",
  modelId: "",
  sendKey: "enter",
  temperature: 0,
  steps: MOST_STEPS,
  instructions: "",
  sound: false,
};

const NAME = "settings";

/** What was set earlier. Anything may stand in a browser's storage, so each value is checked, and one that is none is left out. */
export function readSettings(kept: KeptTexts): Settings {
  const stored = parse(kept.read(NAME));
  const { theme, modelId, sendKey, temperature, steps, instructions, sound } = stored;
  return {
    theme: theme === "light" || theme === "dark" ? theme : initial.theme,
    modelId: typeof modelId === "string" ? modelId : initial.modelId,
    sendKey: sendKey === "withCtrl" ? sendKey : initial.sendKey,
    temperature: within(temperature, 0, HOTTEST) ?? initial.temperature,
    steps: Math.round(within(steps, 1, MOST_STEPS) ?? initial.steps),
    instructions: typeof instructions === "string" ? instructions.slice(0, LONGEST_INSTRUCTIONS) : initial.instructions,
    sound: sound === true,
  };
}

/** What another page sets holds here too, and what is set here next does not undo it. */
export function onSettingsElsewhere(
  { kept, onKeptElsewhere }: Pick<ShellEnvironment, "kept" | "onKeptElsewhere">,
  listener: (settings: Settings) => void,
): () => void {
  return onKeptElsewhere((name) => {
    if (name === null || name === NAME) listener(readSettings(kept));
  });
}

export function writeSettings(kept: KeptTexts, settings: Settings): void {
  kept.write(NAME, JSON.stringify(settings));
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function within(value: unknown, least: number, most: number): number | null {
  return typeof value === "number" && value >= least && value <= most ? value : null;
}

/** Whether a key sends what is written. Enter that ends the choice of a character (an input method) never does. */
export function isSendKey(event: KeyboardEvent, sendKey: SendKey): boolean {
  if (event.key !== "Enter" || event.nativeEvent.isComposing) return false;
  return sendKey === "enter" ? !event.shiftKey : event.ctrlKey || event.metaKey;
}
