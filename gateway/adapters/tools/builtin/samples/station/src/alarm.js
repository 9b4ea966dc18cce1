export const LIMIT_KMH = 62;
export const QUIET_MINUTES = 10;

/** Rings when a gust is above the limit, unless it rang a short while ago. */
export class Alarm {
  #silentUntil = 0;

  constructor(ring) {
    this.ring = ring;
  }

  hear(gust, now) {
    if (gust <= LIMIT_KMH || now < this.#silentUntil) return false;
    this.#silentUntil = now + QUIET_MINUTES * 60_000;
    this.ring(`gust of ${gust} km/h`);
    return true;
  }
}
