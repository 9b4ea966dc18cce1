import { isObject } from "./parse.ts";

/** What a line in the composer asks for. Commands are for the page and the gate; none of them reaches the model. */
export type Command =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "tools"; readonly search: string }
  | { readonly kind: "inspect"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly arguments: Record<string, unknown> }
  /** `name` is empty where the models are only to be shown. */
  | { readonly kind: "model"; readonly name: string }
  | { readonly kind: "grants" }
  | { readonly kind: "help" }
  | { readonly kind: "exit" }
  /** `about` is the word that was typed behind the slash. */
  | { readonly kind: "mistake"; readonly why: Mistake; readonly about: string };

/** What is wrong with a command. */
export type Mistake = "takesNothing" | "noToolNamed" | "noSuchCommand" | "noObject";

export type CommandWord = "tools" | "inspect" | "call" | "model" | "grants" | "help" | "exit";

export interface CommandInfo {
  readonly word: CommandWord;
  readonly usage: string;
}

export const commands: readonly CommandInfo[] = [
  { word: "tools", usage: "/tools [WORDS]" },
  { word: "inspect", usage: "/inspect NAME" },
  { word: "call", usage: "/call NAME {…}" },
  { word: "model", usage: "/model [NAME]" },
  { word: "grants", usage: "/grants" },
  { word: "help", usage: "/help" },
  { word: "exit", usage: "/exit" },
];

/** Read what was typed. Only a known word right after the slash makes a command: `/etc/hosts` is part of a sentence. */
export function readCommand(typed: string): Command {
  const text = typed.trim();
  const [, word, rest = ""] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  switch (word) {
    case undefined:
      return { kind: "message", text };
    case "tools":
      return { kind: "tools", search: rest };
    case "model":
      return { kind: "model", name: rest };
    case "grants":
    case "help":
    case "exit":
      return rest === "" ? { kind: word } : mistake("takesNothing", word);
    case "inspect":
      return /^\S+$/.test(rest) ? { kind: "inspect", name: rest } : mistake("noToolNamed", word);
    case "call":
      return readCall(rest);
    default:
      return mistake("noSuchCommand", word);
  }
}

/** The commands that what was typed so far could become; none once its word is complete and something follows. */
export function suggestCommands(typed: string): CommandInfo[] {
  const [, start] = /^\/([a-z]*)$/.exec(typed) ?? [];
  return start === undefined ? [] : commands.filter((command) => command.word.startsWith(start));
}

function readCall(rest: string): Command {
  const [, name, json = ""] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
  if (name === undefined) return mistake("noToolNamed", "call");
  if (json === "") return { kind: "call", name, arguments: {} };
  try {
    const given: unknown = JSON.parse(json);
    if (isObject(given)) return { kind: "call", name, arguments: given };
  } catch {
    // Said below, like any other text that is no object.
  }
  return mistake("noObject", "call");
}

function mistake(why: Mistake, about: string): Command {
  return { kind: "mistake", why, about };
}
