import type { PolicySwitch, SwitchState, SwitchTakes } from "../../../../protocol/generated.ts";
import type { Tone } from "../../../../ui/Tag.tsx";

interface SwitchWords {
  readonly title: string;
  /** What it does, and what it does not. */
  readonly meaning: string;
}

export const SWITCHES: Readonly<Record<PolicySwitch, SwitchWords>> = {
  askOutsideFolders: {
    title: "Ask before reading outside some folders",
    meaning:
      "Only these folders are read without asking. A tool of another source that does not say what it reads asks too; visitors read nothing else.",
  },
  letHostsThrough: {
    title: "Let some hosts through without asking",
    meaning:
      "Tools that reach the network may reach exactly these hosts by themselves. What a rule forbids or asks about elsewhere stays so.",
  },
  passkeyForWrites: {
    title: "Take a passkey for every write",
    meaning: "Whatever writes files needs a passkey over exactly what is written. A click does not do any more.",
  },
  neverDelete: {
    title: "Never delete or overwrite",
    meaning: "Nothing that cannot be undone runs, and nobody is asked about it.",
  },
  noNetworkAfterUntrusted: {
    title: "No network after untrusted content",
    meaning:
      "Once a conversation has read what a stranger may have written, no tool of it reaches the network. A model elsewhere can still be asked.",
  },
};

export const STATE_WORDS: Readonly<Record<SwitchState, string>> = {
  off: "off",
  on: "on",
  changedByHand: "changed by hand",
};

export const STATE_TONES: Readonly<Record<SwitchState, Tone>> = {
  off: "plain",
  on: "ok",
  changedByHand: "waiting",
};

interface ArgumentWords {
  readonly label: string;
  readonly hint: string;
}

/** What the field for a switch's folders or hosts is called. */
export const SWITCH_ARGUMENTS: Readonly<Record<Exclude<SwitchTakes, "nothing">, ArgumentWords>> = {
  folders: { label: "Folders", hint: "One on each line, such as notes/" },
  hosts: { label: "Hosts", hint: "One exact name on each line, such as docs.example.com" },
};

/** The lines of a field that hold anything. */
export function readList(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
