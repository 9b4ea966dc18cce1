// @vitest-environment jsdom
import { render } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  localStorage.clear();
  vi.restoreAllMocks();
  vi.resetModules();
});

const AT = "2026-11-21T22:05:09.000Z";

/** What the pages write of one moment, for a browser of these languages. */
async function written(...tags: readonly string[]) {
  vi.resetModules();
  vi.spyOn(navigator, "languages", "get").mockReturnValue(tags);
  const { ExactTime } = await import("../../../src/ui/TimeAgo.tsx");
  const moments = await import("../../../src/ui/moments.ts");
  const exact = render(<ExactTime at={AT} />).container.textContent ?? "";
  const { clockTime, recentMoment, shortMoment } = moments;
  return [exact, ...[clockTime, recentMoment, shortMoment].map((each) => each.format(Date.parse(AT)))];
}

test.each([
  [["en-US", "en"], true],
  [["en-GB", "en"], false],
  [["de-AT", "en-US"], false],
  [["fr-FR", "en-GB"], false],
])("for %j each clock is of 12 hours: %s", async (tags, isTwelve) => {
  for (const text of await written(...tags)) expect(/[ap]\.?m/i.test(text), text).toBe(isTwelve);
});
