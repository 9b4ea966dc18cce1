import { t } from "../../language/t.ts";
import type { Profile } from "../../protocol/generated.ts";

/** What one person of that profile is. */
export const PROFILE_NAMES: Readonly<Record<Profile, string>> = {
  operator: t`operator`,
  guest: t`guest`,
  anonymous: t`visitor`,
  auditor: t`auditor`,
};
