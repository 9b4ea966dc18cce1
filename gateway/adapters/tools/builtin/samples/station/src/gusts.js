// One turn of the cups is 2.4 km/h at one turn per second, says the data sheet.
export const KMH_PER_TURN = 2.4;

/** Speeds in km/h out of turns counted in each second. */
export function speeds(turns) {
  return turns.map((count) => count * KMH_PER_TURN);
}

/** The strongest three seconds in a row: what meteorologists call a gust. */
export function strongestGust(turns) {
  let strongest = 0;
  for (let at = 0; at + 3 <= turns.length; at++) {
    const mean = (turns[at] + turns[at + 1] + turns[at + 2]) / 3;
    strongest = Math.max(strongest, mean * KMH_PER_TURN);
  }
  return Math.round(strongest * 10) / 10;
}
