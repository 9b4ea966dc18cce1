/** A number of things. */
export function whole(count: number): string {
  return count.toLocaleString("en");
}

/** A quotient; a dash where there was nothing to divide by. */
export function share(value: number | undefined): string {
  return value === undefined ? "–" : value.toLocaleString("en", { maximumFractionDigits: 1 });
}

/** Milliseconds, as seconds or minutes; a dash where nobody answered. */
export function seconds(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return "–";
  const all = milliseconds / 1_000;
  return all < 120 ? `${share(all)} s` : `${share(all / 60)} min`;
}
