// @vitest-environment jsdom
import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";
import { readViews, useSavedViews } from "../../../src/features/console/audit/saved-views.ts";

beforeEach(() => localStorage.clear());

test("what two tabs save is kept of both, and each shows what the other did", () => {
  const { result: first } = renderHook(useSavedViews);
  const { result: second } = renderHook(useSavedViews);
  const names = (views: readonly { readonly name: string }[]) => views.map(({ name }) => name);
  act(() => first.current.save("Failed", "?outcome=executionError"));
  act(() => second.current.save("Denied", "?decision=denied"));
  expect(names(readViews())).toEqual(["Denied", "Failed"]);
  act(() => {
    window.dispatchEvent(new StorageEvent("storage", { key: "another" }));
  });
  expect(names(first.current.views)).toEqual(["Failed"]);
  act(() => {
    window.dispatchEvent(new StorageEvent("storage", { key: "audit-views" }));
  });
  expect(names(first.current.views)).toEqual(["Denied", "Failed"]);
  act(() => second.current.remove("Failed"));
  act(() => first.current.save("Ran", ""));
  expect(names(readViews())).toEqual(["Ran", "Denied"]);
});

test("a view keeps its place under another name, and takes none that another has", () => {
  const { result } = renderHook(useSavedViews);
  act(() => result.current.save("Failed", "?outcome=executionError"));
  act(() => result.current.save("Denied", "?decision=denied"));
  act(() => result.current.rename("Failed", "  Went wrong "));
  const expected = [
    { name: "Denied", search: "?decision=denied" },
    { name: "Went wrong", search: "?outcome=executionError" },
  ];
  expect(readViews()).toEqual(expected);
  act(() => result.current.rename("Went wrong", "Denied"));
  expect(readViews()).toEqual(expected);
});
