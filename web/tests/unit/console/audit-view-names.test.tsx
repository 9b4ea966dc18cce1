// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { readViews } from "../../../src/features/console/audit/saved-views.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);
beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test("gives a view another name, and none that another one has", async () => {
  const views = ["Reading", "Writing"].map((name) => ({ name, search: `?tool=${name}` }));
  localStorage.setItem("audit-views", JSON.stringify(views));
  const gateway = new FakeGateway();
  gateway.handlers["audit/calls"] = () => ({ calls: [], unread: 0 });
  openConsole(gateway, "/audit");
  await userEvent.click(await screen.findByText("Saved views (2)"));
  await userEvent.click(screen.getByRole("button", { name: "Rename the view Writing" }));
  const field = screen.getByLabelText("New name of the view Writing");
  expect(document.activeElement).toBe(field);
  await userEvent.clear(field);
  await userEvent.type(field, "Reading{Enter}");
  expect(await screen.findByText("Another view has this name")).toBeDefined();
  expect(readViews()).toEqual(views);
  await userEvent.type(field, " and more{Enter}");
  expect(await screen.findByRole("link", { name: "Reading and more" })).toBeDefined();
  expect(readViews().map(({ name }) => name)).toEqual(["Reading", "Reading and more"]);
  await userEvent.click(screen.getByRole("button", { name: "Rename the view Reading" }));
  await userEvent.keyboard("x{Escape}");
  expect(screen.queryByLabelText("New name of the view Reading")).toBeNull();
  expect(readViews().map(({ name }) => name)).toEqual(["Reading", "Reading and more"]);
});
