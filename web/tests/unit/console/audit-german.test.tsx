// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { prepareDocument } from "../ui/document.ts";

beforeAll(prepareDocument);

afterEach(() => {
  cleanup();
  localStorage.clear();
  // Other files share the modules.
  vi.resetModules();
});

test("on a phone, where a row of records has no head above it, each cell says in the page's language what it is", async () => {
  localStorage.setItem("countersign.language", "de");
  vi.resetModules();
  const { EntryList } = await import("../../../src/features/console/audit/EntryList.tsx");
  const body = { event: "call:closed", at: 0, tool: "write_file", outcome: "deniedByUser", decision: "denied" };
  render(<EntryList entries={[{ index: 1, hash: "0".repeat(64), body }]} />);
  const cells = [...document.querySelectorAll("tbody tr:first-child td")].map((cell) => cell.textContent);
  expect(cells.slice(1, 5)).toEqual([
    "Aufruf beendet",
    "Werkzeug: write_file",
    "Ausgang: Von einer Person abgelehnt",
    "Entscheidung: Abgelehnt",
  ]);
});
