import { expect, test } from "vitest";
import {
  callFilterOf,
  EMPTY_VIEW,
  readCallsView,
  writeCallsView,
} from "../../../src/features/console/audit/calls-view.ts";

test("a view of calls survives in the address, and the usual one leaves no trace", () => {
  const view = {
    ...EMPTY_VIEW,
    range: "7d",
    tool: "write_file",
    person: "usr_ada",
    text: "notes & more",
    group: "conversation",
  };
  expect(readCallsView(writeCallsView(view))).toEqual(view);
  expect(writeCallsView(EMPTY_VIEW)).toBe("");
});

test("an address that is no view is the usual view", () => {
  expect(readCallsView("?range=forever&label=secret&group=all&from=now&to=later")).toEqual(EMPTY_VIEW);
  const turned = readCallsView("?from=2026-11-21T00:00:00.000Z&to=2026-11-20T00:00:00.000Z");
  expect([turned.from, turned.to]).toEqual(["", ""]);
});

test("a filter has a beginning always, and an end where the address gives one", () => {
  const now = Date.parse("2026-11-21T10:00:00.000Z");
  expect(callFilterOf(EMPTY_VIEW, now)).toEqual({ since: "2026-11-20T10:00:00.000Z" });
  const exact = {
    ...EMPTY_VIEW,
    from: "2026-11-01T00:00:00.000Z",
    to: "2026-11-02T00:00:00.000Z",
    label: "high",
    model: "m",
  };
  expect(callFilterOf(exact, now)).toEqual({ since: exact.from, until: exact.to, label: "high", modelId: "m" });
});
