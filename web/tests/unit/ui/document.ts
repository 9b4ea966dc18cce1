import { configure } from "@testing-library/react";
import { vi } from "vitest";

/** Makes jsdom's document enough of a browser for the kit: call it in `beforeAll`. */
export function prepareDocument(): void {
  // React then lets no update pass that a test did not wait for. Testing Library does this where test globals exist.
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  // The first visit to a page also compiles it, and the machine may be busy with other things.
  configure({ asyncUtilTimeout: 10_000 });
  vi.setConfig({ testTimeout: 30_000 });
  // jsdom knows `<dialog>` but not how to open one modally; what a test needs of that is the attribute and the event.
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
    this.dispatchEvent(new Event("close"));
  };
}
