/** The two notes, in hertz, one after the other. */
const NOTES = [660, 880];
const NOTE_SECONDS = 0.18;
const LOUDNESS = 0.12;
/** For so long, in milliseconds, no other page of the shell rings for the same thing: all are told of it at about one time. */
const TAKEN_MS = 10_000;
/** After so long, in milliseconds, it has been heard, or the browser lets nothing be heard. */
const OVER_MS = 1_500;

/** Lets two notes be heard for something with a name, in one of the pages of this origin. */
export function ring(name: string): void {
  if (!("locks" in navigator)) {
    play();
    return;
  }
  navigator.locks
    .request(`bell:${name}`, { ifAvailable: true }, async (lock) => {
      if (lock === null) return;
      play();
      await new Promise((resolve) => setTimeout(resolve, TAKEN_MS));
    })
    .catch(() => undefined);
}

/** Nothing is heard, and nothing fails, in a page that nobody has touched: browsers forbid sound there. */
function play(): void {
  if (navigator.userActivation?.hasBeenActive === false) return;
  try {
    const context = new AudioContext();
    NOTES.forEach((hertz, place) => {
      sound(context, hertz, place * NOTE_SECONDS);
    });
    // One that was not allowed to begin is over as well: it must not ring when the page is touched much later.
    setTimeout(() => void context.close().catch(() => undefined), OVER_MS);
  } catch {
    // There is nothing to hear it with.
  }
}

function sound(context: AudioContext, hertz: number, from: number): void {
  const tone = context.createOscillator();
  const volume = context.createGain();
  tone.frequency.value = hertz;
  // From and to silence, or the ends would click.
  volume.gain.setValueAtTime(0, from);
  volume.gain.linearRampToValueAtTime(LOUDNESS, from + 0.02);
  volume.gain.linearRampToValueAtTime(0, from + NOTE_SECONDS);
  tone.connect(volume).connect(context.destination);
  tone.start(from);
  tone.stop(from + NOTE_SECONDS);
}
