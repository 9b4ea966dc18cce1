import type { TestModule } from "vitest/node";
import { DefaultReporter } from "vitest/node";

/** Vitest's own report, closed by one plain line that any runner of runners can read. */
export default class PlainReporter extends DefaultReporter {
  override onTestRunEnd(...args: Parameters<DefaultReporter["onTestRunEnd"]>): void {
    super.onTestRunEnd(...args);
    const [modules, unhandled] = args;
    const counts = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) countInto(counts, module);
    process.stdout.write(`web: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
  }
}

function countInto(counts: { passed: number; failed: number; skipped: number }, module: TestModule): void {
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    counts[state === "pending" ? "skipped" : state] += 1;
  }
  // A module that fails to load has no tests to count, and must not pass for an empty one.
  counts.failed += module.errors().length;
}
