/** A number of things. */
import { language } from "../../../language/language.ts";
import { t } from "../../../language/t.ts";
export function whole(count: number): string {
  return count.toLocaleString(language);
}

/** A quotient; a dash where there was nothing to divide by. */
export function share(value: number | undefined): string {
  return value === undefined ? "–" : value.toLocaleString(language, { maximumFractionDigits: 1 });
}

/** Milliseconds, as seconds or minutes; a dash where nobody answered. */
export function seconds(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return "–";
  const all = milliseconds / 1_000;
  return all < 120 ? `${share(all)} s` : t`${share(all / 60)} min`;
}
