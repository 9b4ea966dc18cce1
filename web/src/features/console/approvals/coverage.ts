import { language } from "../../../language/language.ts";
import { t } from "../../../language/t.ts";
import type { GrantScope, Pattern } from "../../../protocol/generated.ts";
import { describePattern } from "../../../ui/patterns.ts";

/** What an approval would cover. `freed` names the one argument that may vary, if the person frees one, `within` what. */
export interface Coverage {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly scope: GrantScope;
  readonly freed: string | null;
  readonly within?: Pattern | null;
}

/** In words, what the approval covers: never more than what is on screen, and shown before it is given. */
export function describeCoverage({ tool, arguments: shown, scope, freed, within }: Coverage): string {
  if (scope === "once") return t`This one call, with exactly these arguments. The next one asks again.`;
  const names = Object.keys(shown).filter((name) => name !== freed);
  const pinned = names.length === 0 ? [] : [t`${listed(names)} exactly as shown`];
  const open = freed === null ? [] : [within ? t`${freed} ${describePattern(within)}` : t`any value of ${freed}`];
  const values = listed([...pinned, ...open]);
  const calls = values === "" ? t`Every call of ${tool} without arguments` : t`Every call of ${tool} with ${values}`;
  const rest = freed === null ? t`Any other arguments ask again.` : t`A change to anything else asks again.`;
  return `${calls}, ${SPANS[scope]}. ${rest} ${LIMITS}`;
}

/** Whether the choice deserves a warning: an argument is open, so calls will run that nobody has seen. */
export function coversUnseen({ scope, freed }: Coverage): boolean {
  return scope !== "once" && freed !== null;
}

/** The names of the pinned arguments, for `approvals/decide`; undefined for an approval of one call. */
export function pinsOf({ arguments: shown, scope, freed }: Coverage): string[] | undefined {
  return scope === "once" ? undefined : Object.keys(shown).filter((name) => name !== freed);
}

/** The words on the choices. */
export const SCOPE_LABELS: Readonly<Record<GrantScope, string>> = {
  once: t`Once`,
  turn: t`For this turn`,
  session: t`For this session`,
};

const LIMITS = t`The gateway also limits how long and how often; you see both under Grants and can revoke it there.`;

const SPANS: Readonly<Record<Exclude<GrantScope, "once">, string>> = {
  turn: t`until this turn of the conversation ends`,
  session: t`in this conversation until the session ends`,
};

function listed(names: readonly string[]): string {
  return new Intl.ListFormat(language).format(names);
}
