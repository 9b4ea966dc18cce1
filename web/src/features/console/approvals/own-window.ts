const CHANNEL = "approval-window";

let isOwn = false;

/** Whether the shell opened this window for a question, so that it may go when the question is answered. */
export function isOwnWindow(): boolean {
  return isOwn;
}

/**
 * The shell opens a window at `…#asked` for a question. Neither side can reach the other's window, which is as it should be, so
 * an earlier one of them is asked to go by its own kind: there is one such window at most, and it is the one in front.
 */
export function takeOwnWindow(): void {
  if (window.location.hash !== "#asked") return;
  window.history.replaceState(null, "", window.location.pathname + window.location.search);
  isOwn = true;
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage("opened");
  channel.onmessage = () => window.close();
}
