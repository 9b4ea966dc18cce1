// @vitest-environment jsdom
import { afterEach, expect, test, vi } from "vitest";

// The modules are shared with the tests that follow, which speak English.
afterEach(() => {
  localStorage.clear();
  vi.resetModules();
});

test.each([
  ["Call of write_file", "Aufruf von write_file"],
  ["Call of files__read.all (copy) (2)", "Aufruf von files__read.all (copy) (2)"],
  ["The tool read_file", "Das Werkzeug read_file"],
  ["Recall of cars", "Recall of cars"],
  ["", ""],
])("the title %j is shown in the page's language", async (kept, shown) => {
  vi.resetModules();
  const english = (await import("../../../src/ui/conversation-title.ts")).shownTitle;
  expect(english(kept)).toBe(kept);
  localStorage.setItem("countersign.language", "de");
  vi.resetModules();
  const { shownTitle } = await import("../../../src/ui/conversation-title.ts");
  expect(shownTitle(kept)).toBe(shown);
});
