import { cleanup, render } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import axe from "axe-core";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { Shell } from "../../../src/features/shell/Shell.tsx";
import type { ShellEnvironment } from "../../../src/features/shell/shell-environment.ts";
import { NoResizes, pageOf, type ScriptedClient } from "./scripted-client.ts";

/** Makes jsdom enough of a browser for the shell, before each test of the file that calls it. */
export function prepareShell(): void {
  beforeEach(() => {
    // jsdom knows none of these; all are the browser's own.
    vi.stubGlobal("matchMedia", () => ({ matches: true }));
    vi.stubGlobal("ResizeObserver", NoResizes);
    HTMLDialogElement.prototype.showModal = function showModal() {
      this.open = true;
    };
    HTMLDialogElement.prototype.close = function close() {
      this.open = false;
      this.dispatchEvent(new Event("close"));
    };
    HTMLElement.prototype.checkVisibility = () => true;
  });

  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });
}

/** The shell over a scripted connection, and a person at it. */
export function openShell(client: ScriptedClient, replies: string[] = [], own: Partial<ShellEnvironment> = {}) {
  const page = pageOf(client, replies);
  render(<Shell environment={{ ...page.environment, ...own }} />);
  return { ...page, user: userEvent.setup() };
}

export async function expectAccessible(): Promise<void> {
  // Colours need a real browser; the contrast test of the tokens has them.
  const { violations } = await axe.run(document.body, {
    rules: { "color-contrast": { enabled: false }, region: { enabled: false } },
  });
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
}

/** A stored conversation as the gateway describes it, without its title. */
export const conversation = {
  id: "cnv_1",
  createdAt: "2026-11-21T10:00:00.000Z",
  updatedAt: "2026-11-21T10:00:00.000Z",
  turnCount: 0,
  messageCount: 0,
  tainted: false,
  label: "public",
};
