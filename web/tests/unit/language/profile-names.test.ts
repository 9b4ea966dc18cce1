import { afterEach, expect, test, vi } from "vitest";
import german from "../../../src/language/de/console.json" with { type: "json" };

afterEach(() => {
  // Other files share the modules.
  vi.doUnmock("../../../src/language/language.ts");
  vi.resetModules();
});

test("what somebody is stands in the page's language, not in the word of the protocol", async () => {
  vi.resetModules();
  vi.doMock("../../../src/language/language.ts", () => ({ language: "de", catalogue: german }));
  const { PROFILE_NAMES } = await import("../../../src/features/console/profile-names.ts");
  expect(PROFILE_NAMES).toEqual({ operator: "Operator", guest: "Gast", anonymous: "Besucher", auditor: "Prüfer" });
});
