import { afterEach, vi } from "vitest";

/** All files share one worker and its modules, so each test takes away what it drew and gives back the real clock. */
afterEach(async () => {
  vi.useRealTimers();
  if (typeof document === "undefined") return;
  const { cleanup } = await import("@testing-library/react");
  cleanup();
});
