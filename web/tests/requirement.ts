import { onTestFailed } from "vitest";

/**
 * Claims that the test which it begins asserts `claim` of the requirement `id`. Read from the source by
 * tests/scenarios/claims.py, so both are literals and the call is the first statement of its test.
 */
export function requirement(id: string, claim: string): void {
  onTestFailed(() => {
    process.stderr.write(`requirement ${id} is in doubt: ${claim}\n`);
  });
}
