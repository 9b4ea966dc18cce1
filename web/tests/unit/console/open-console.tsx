import { act, render } from "@testing-library/react";
import { vi } from "vitest";
import { ACTIVATION_DELAY_MS } from "../../../src/features/console/approvals/activation-delay.ts";
import { Console } from "../../../src/features/console/Console.tsx";
// Loaded before a test sets its clock, which runs on while a page is fetched.
import "../../../src/features/console/page-loaders.ts";
import type { ConsolePage } from "../../../src/features/console/pages.tsx";
import type { FakeGateway } from "./fake-gateway.ts";

/** The moment at which every test of a page takes place: a minute after what `ask` asks, four before it expires. */
const NOW = new Date("2026-11-21T10:01:00.000Z");

/** Opens the console at an address, in a window that nobody looks at yet, with the clock in the test's hand. */
export function openConsole(gateway: FakeGateway, address: string, pages?: readonly ConsolePage[]): void {
  vi.useFakeTimers({ now: NOW, shouldAdvanceTime: true });
  vi.spyOn(document, "hasFocus").mockReturnValue(false);
  window.history.replaceState(null, "", address);
  render(<Console environment={gateway.environment} pages={pages} />);
}

/** Lets time pass on the page. */
export async function pass(milliseconds: number): Promise<void> {
  await act(() => vi.advanceTimersByTimeAsync(milliseconds));
}

/** Brings the window to the front, long enough for the decision buttons to work. */
export function lookAtIt(): Promise<void> {
  act(() => {
    vi.mocked(document.hasFocus).mockReturnValue(true);
    window.dispatchEvent(new Event("focus"));
  });
  return pass(ACTIVATION_DELAY_MS);
}
