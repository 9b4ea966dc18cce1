import { t } from "../../../../language/t.ts";
import type { PolicySwitch, SwitchState, SwitchTakes } from "../../../../protocol/generated.ts";
import type { Tone } from "../../../../ui/Tag.tsx";

interface SwitchWords {
  readonly title: string;
  /** What it does, and what it does not. */
  readonly meaning: string;
}

export const SWITCHES: Readonly<Record<PolicySwitch, SwitchWords>> = {
  askOutsideFolders: {
    title: t`Ask before reading outside some folders`,
    meaning: t`Only these folders are read without asking. A tool of another source that does not say what it reads asks too; visitors read nothing else.`,
  },
  letHostsThrough: {
    title: t`Let some hosts through without asking`,
    meaning: t`Tools that reach the network may reach exactly these hosts by themselves. What a rule forbids or asks about elsewhere stays so.`,
  },
  passkeyForWrites: {
    title: t`Take a passkey for every write`,
    meaning: t`Whatever writes files needs a passkey over exactly what is written. A click does not do any more.`,
  },
  neverDelete: {
    title: t`Never delete or overwrite`,
    meaning: t`Nothing that cannot be undone runs, and nobody is asked about it.`,
  },
  noNetworkAfterUntrusted: {
    title: t`No network after untrusted content`,
    meaning: t`Once a conversation has read what a stranger may have written, no tool of it reaches the network. A model elsewhere can still be asked.`,
  },
};

export const STATE_WORDS: Readonly<Record<SwitchState, string>> = {
  off: t`off`,
  on: t`on`,
  changedByHand: t`changed by hand`,
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
  folders: { label: t`Folders`, hint: t`One on each line, such as notes/` },
  hosts: { label: t`Hosts`, hint: t`One exact name on each line, such as docs.example.com` },
};

/** The lines of a field that hold anything. */
export function readList(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
