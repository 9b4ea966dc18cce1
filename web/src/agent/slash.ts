import { isObject } from "./parse.ts";

/** What a line in the composer asks for. Commands are for the page and the gate; none of them reaches the model. */
export type Command =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "tools"; readonly search: string }
  | { readonly kind: "inspect"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly arguments: Record<string, unknown> }
  | { readonly kind: "help" }
  | { readonly kind: "exit" }
  /** `why` is a sentence for the person. */
  | { readonly kind: "mistake"; readonly why: string };

export interface CommandInfo {
  readonly word: string;
  readonly usage: string;
  readonly what: string;
}

export const commands: readonly CommandInfo[] = [
  { word: "tools", usage: "/tools [WORDS]", what: "Show the tools of this conversation and what each needs" },
  { word: "inspect", usage: "/inspect NAME", what: "Show one tool with its arguments" },
  { word: "call", usage: "/call NAME {…}", what: "Call a tool yourself, through the same gate and without the model" },
  { word: "help", usage: "/help", what: "Show what can be typed here" },
  { word: "exit", usage: "/exit", what: "Sign out and end everything that runs" },
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
    case "help":
    case "exit":
      return rest === "" ? { kind: word } : mistake(`\`/${word}\` takes nothing after it.`);
    case "inspect":
      return /^\S+$/.test(rest) ? { kind: "inspect", name: rest } : mistake("Which tool? `/inspect NAME`");
    case "call":
      return readCall(rest);
    default:
      return mistake(`There is no command \`/${word}\`. \`/help\` shows what there is.`);
  }
}

/** The commands that what was typed so far could become; none once its word is complete and something follows. */
export function suggestCommands(typed: string): CommandInfo[] {
  const [, start] = /^\/([a-z]*)$/.exec(typed) ?? [];
  return start === undefined ? [] : commands.filter((command) => command.word.startsWith(start));
}

function readCall(rest: string): Command {
  const [, name, json = ""] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
  if (name === undefined) return mistake("Which tool? `/call NAME {…}`");
  if (json === "") return { kind: "call", name, arguments: {} };
  try {
    const given: unknown = JSON.parse(json);
    if (isObject(given)) return { kind: "call", name, arguments: given };
  } catch {
    // Said below, like any other text that is no object.
  }
  return mistake('The arguments must be one JSON object, like `{"path": "notes"}`.');
}

function mistake(why: string): Command {
  return { kind: "mistake", why };
}
