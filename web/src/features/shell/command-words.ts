import type { Command, CommandInfo, CommandWord } from "../../agent/slash.ts";
import { t } from "../../language/t.ts";

const WHAT: Readonly<Record<CommandWord, string>> = {
  tools: t`Show the tools of this conversation and what each needs`,
  inspect: t`Show one tool with its arguments`,
  call: t`Call a tool yourself, through the same gate and without the model`,
  model: t`Show the models and which one answers; with a name, that one does from now on`,
  grants: t`Show the approvals that hold for several calls`,
  help: t`Show what can be typed here`,
  exit: t`Sign out and end everything that runs`,
};

/** What a command does, for whoever chooses one. */
export function describeCommand({ word }: CommandInfo): string {
  return WHAT[word];
}

/** What is wrong with a command, and what would be right. */
export function explainMistake({ why, about }: Extract<Command, { readonly kind: "mistake" }>): string {
  switch (why) {
    case "takesNothing":
      return t`\`/${about}\` takes nothing after it.`;
    case "noToolNamed":
      return about === "call" ? t`Which tool? \`/call NAME {…}\`` : t`Which tool? \`/inspect NAME\``;
    case "noSuchCommand":
      return t`There is no command \`/${about}\`. \`/help\` shows what there is.`;
    case "noObject":
      return t`The arguments must be one JSON object, like \`{"path": "notes"}\`.`;
  }
}
