// @vitest-environment jsdom
import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { FakeSource, proposedTool } from "./fake-sources.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;
let source: FakeSource;

beforeEach(() => {
  gateway = new FakeGateway();
  source = new FakeSource(gateway, [proposedTool("first"), proposedTool("second")]);
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const announce = () => act(async () => gateway.client.notify("sources/changed", {}));
const rowOf = async (tool: string) => {
  const grid = await screen.findByRole("grid", { name: "Tools of notes" });
  return within(grid).getByText(`notes__${tool}`).closest("[role=row]") as HTMLElement;
};

describe("the pages about sources", () => {
  test("learn from the gateway that a source is another way, and ask nothing by the clock", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    openConsole(gateway, "/sources");
    const card = (await screen.findByRole("link", { name: "notes" })).closest("li") as HTMLElement;
    source.changes = { state: "away", why: "the server has ended" };
    const asked = gateway.asked("sources/list").length;
    await act(() => vi.advanceTimersByTimeAsync(600_000));
    expect(gateway.asked("sources/list")).toHaveLength(asked);
    expect(card.textContent).not.toContain("the server has ended");
    await announce();
    await waitFor(() => expect(card.textContent).toContain("the server has ended"));
  });

  test("show what somebody else decided meanwhile", async () => {
    openConsole(gateway, "/sources/notes");
    expect((await rowOf("first")).textContent).toContain("undecided");
    source.tools[0] = proposedTool("first", { standing: "inUse", category: "read" });
    await announce();
    await waitFor(async () => expect((await rowOf("first")).textContent).toContain("in use"));
  });

  test("show a change although the counts are what this page last brought about", async () => {
    openConsole(gateway, "/sources/notes");
    (await rowOf("first")).focus();
    await userEvent.keyboard("r");
    await waitFor(async () => expect((await rowOf("first")).textContent).toContain("in use"));
    source.tools.reverse();
    source.tools[1] = proposedTool("first", { standing: "keptOut" });
    await announce();
    await waitFor(async () => expect((await rowOf("first")).textContent).toContain("forbidden"));
    source.tools[1] = proposedTool("first", { standing: "inUse", category: "read" });
    await announce();
    await waitFor(async () => expect((await rowOf("first")).textContent).toContain("in use"));
  });

  test("do not read every tool again after a decision of their own", async () => {
    openConsole(gateway, "/sources/notes");
    (await rowOf("first")).focus();
    await userEvent.keyboard("r");
    await waitFor(async () => expect((await rowOf("first")).textContent).toContain("in use"));
    const asked = gateway.asked("sources/list-tools").length;
    const listed = gateway.asked("sources/list").length;
    await announce();
    await waitFor(() => expect(gateway.asked("sources/list")).toHaveLength(listed + 1));
    expect(gateway.asked("sources/list-tools")).toHaveLength(asked);
  });

  test("of a guest ask nothing when they are told by mistake", async () => {
    gateway.profile = "guest";
    openConsole(gateway, "/");
    await screen.findAllByRole("navigation");
    await announce();
    expect(gateway.calls.filter(({ method }) => /^(sources|secrets)/.test(method))).toEqual([]);
  });
});
