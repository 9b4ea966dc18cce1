import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventWords } from "../../../src/features/console/audit/event-words.ts";

const LEDGER = new URL("../../../../gateway/core/ledger/", import.meta.url);

test("every event that the gateway records has words of its own", () => {
  const code = readdirSync(LEDGER).map((file) =>
    file.endsWith(".py") ? readFileSync(new URL(file, LEDGER), "utf8") : "",
  );
  const events = new Set(code.join("\n").match(/(?<=")[a-z-]+:[a-z-]+(?=")/g));
  expect(events.size).toBeGreaterThan(60);
  const plain = [...events].filter((event) => eventWords(event) === event.replaceAll(/[:-]/g, " "));
  expect(plain).toEqual([]);
});

test("one of a newer gateway is called by its own words", () => {
  expect(eventWords("sky:fell-down")).toBe("sky fell down");
});
