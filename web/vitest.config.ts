import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

/** Pure logic runs in Node; a file that needs a document says `// @vitest-environment jsdom` on its first line. */
export default defineConfig({
  plugins: [react()],
  test: {
    include: ["tests/**/*.test.{ts,tsx}"],
    environment: "node",
    reporters: ["./tests/plain-reporter.ts"],
    css: { modules: { classNameStrategy: "non-scoped" } },
    setupFiles: ["./tests/timeouts.ts", "./tests/nothing-left.ts", "./tests/quick-dom.ts"],
    testTimeout: 30_000,
    restoreMocks: true,
    unstubGlobals: true,
    // Half of the processor time went into reading the same modules anew for each of 150 files.
    isolate: false,
    maxWorkers: 1,
    // The loop decides what is sent, so nothing of it may go unheld. `npm test` counts; a single file can be run without.
    coverage: { reporter: ["text-summary"], include: ["src/agent/**/*.ts"], thresholds: { 100: true } },
  },
});
