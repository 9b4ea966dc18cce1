import { t } from "../../../language/t.ts";
import type { ConsoleMethods } from "../../../protocol/contract.ts";
import type { Person } from "../../../protocol/generated.ts";

/** What an operator can do about a person. */
export type Change = "makeOperator" | "makeGuest" | "suspend" | "resume" | "remove" | "erase";

interface Described {
  readonly label: string;
  /** Whether it gives authority; the gateway wants a passkey for that. */
  readonly gives: boolean;
  /** What it does, for whoever is about to do it. */
  readonly does: string;
  /** What is said when it was done, after the person's name. */
  readonly done: string;
}

const VOID_LINKS = t`Enrolment links that are open, also those of others, are void.`;

/** What the gateway calls somebody who was erased. */
const ERASED_NAME = "(erased)";

/** Every change, in words. */
export const CHANGES: Readonly<Record<Change, Described>> = {
  makeOperator: {
    label: t`Make operator`,
    gives: true,
    does: t`They may then change the policy, add sources, invite and remove people, and see everybody's audit log. Their sessions end, and they sign in again as an operator. ${VOID_LINKS}`,
    done: t`is an operator now`,
  },
  makeGuest: {
    label: t`Make guest`,
    gives: false,
    does: t`They can then do what the policy lets guests do. Their sessions end now, and they sign in again as a guest. ${VOID_LINKS}`,
    done: t`is a guest now`,
  },
  suspend: {
    label: t`Suspend`,
    gives: false,
    does: t`Their sessions end now, with everything that runs or waits in them, and no passkey of theirs signs in until you let them in again. ${VOID_LINKS}`,
    done: t`is suspended`,
  },
  resume: {
    label: t`Let in again`,
    gives: true,
    does: t`They may sign in again with the passkeys that they had, as what they were.`,
    done: t`may sign in again`,
  },
  remove: {
    label: t`Remove`,
    gives: false,
    does: t`Their sessions end now and their passkeys are gone for good: to come back they have to be invited as somebody new. What they did stays on record. ${VOID_LINKS}`,
    done: t`was removed`,
  },
  erase: {
    label: t`Erase what is kept`,
    gives: false,
    does: t`All their conversations, the arguments and results of their calls and their name are erased for good. That something was done, when and how it was decided stays on record, and so does this erasure. Files that were exported or backed up before still have it.`,
    done: t`is erased`,
  },
};

/** What can be done about a person as they are now. */
export function changesOf({ name, passkeys, profile, suspended }: Person): readonly Change[] {
  if (passkeys === 0) return name === ERASED_NAME ? [] : ["erase"];
  const role = profile === "operator" ? "makeGuest" : "makeOperator";
  return suspended ? ["resume", "remove"] : [role, "suspend", "remove"];
}

type Ask = <Method extends keyof ConsoleMethods & string>(
  method: Method,
  params: ConsoleMethods[Method]["params"],
) => Promise<unknown>;

/** Asks the gateway to make the change. */
export function apply(ask: Ask, change: Change, { id: principal }: Person): Promise<unknown> {
  switch (change) {
    case "makeOperator":
      return ask("people/set-profile", { principal, profile: "operator" });
    case "makeGuest":
      return ask("people/set-profile", { principal, profile: "guest" });
    case "suspend":
      return ask("people/suspend", { principal });
    case "resume":
      return ask("people/resume", { principal });
    case "remove":
      return ask("people/remove", { principal });
    case "erase":
      return ask("audit/erase", { principal });
  }
}
