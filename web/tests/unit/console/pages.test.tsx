// @vitest-environment jsdom
import { useQuery } from "@tanstack/react-query";
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { PageHeading } from "../../../src/features/console/PageHeading.tsx";
import { type ConsolePage, consolePages as pages } from "../../../src/features/console/pages.tsx";
import { useAsk } from "../../../src/features/console/session.tsx";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const links = () =>
  within(screen.getAllByRole("navigation", { name: "Console" })[0] as HTMLElement)
    .getAllByRole("link")
    .map((link) => [link.textContent, link.getAttribute("href")]);

describe("the table of pages", () => {
  test("has each path and each title once, and only pages without a parameter in the navigation", () => {
    const paths = pages.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(new Set(pages.map(({ title }) => title)).size).toBe(pages.length);
    for (const { path, navigation } of pages) if (navigation !== undefined) expect(path).not.toContain(":");
  });

  test("is what the navigation lists", async () => {
    openConsole(new FakeGateway(), "/");
    await screen.findByText("Hello, Nora");
    expect(links()).toEqual(pages.flatMap(({ path, navigation }) => (navigation ? [[navigation.label, path]] : [])));
  });

  test("is behind More from the fifth entry on, until another page is opened", async () => {
    const person = userEvent.setup();
    openConsole(new FakeGateway(), "/");
    await screen.findByText("Hello, Nora");
    const bar = within(screen.getAllByRole("navigation", { name: "Console" })[0] as HTMLElement);
    const more = () => bar.getByRole("button", { name: "More" });
    expect(more().getAttribute("aria-expanded")).toBe("false");
    await person.click(more());
    expect(more().getAttribute("aria-expanded")).toBe("true");
    await person.keyboard("{Escape}");
    expect([more().getAttribute("aria-expanded"), document.activeElement]).toEqual(["false", more()]);
    await person.click(more());
    await person.click(bar.getByRole("link", { name: "Passkeys" }));
    await screen.findByRole("heading", { level: 1, name: "Passkeys" });
    expect(more().getAttribute("aria-expanded")).toBe("false");
    expect(more().hasAttribute("data-current")).toBe(true);
  });

  test.each(pages.map(({ path, title, access }) => [path, title, access] as const))(
    "opens %s under its title",
    async (path, title, access) => {
      const gateway = new FakeGateway();
      gateway.session = access !== "anyone";
      openConsole(gateway, path);
      expect(await screen.findByRole("heading", { level: 1 })).toBeDefined();
      await waitFor(() => expect(document.title).toBe(`${title} · Countersign console`));
      expect(window.location.pathname).toBe(path);
    },
  );
});

describe("a new page is one row with a component that has its own query", () => {
  const people: ConsolePage = {
    path: "/visitors",
    title: "Visitors",
    access: "operator",
    component: People,
    navigation: { label: "Visitors", icon: <path d="M4 20h16" /> },
  };

  function People() {
    const ask = useAsk();
    const policy = useQuery({ queryKey: ["people"], queryFn: () => ask("policy/describe", {}) });
    return <PageHeading>{policy.data === undefined ? "…" : "Everybody"}</PageHeading>;
  }

  test("and is then routed, titled and in the navigation", async () => {
    openConsole(new FakeGateway(), "/visitors", [...pages, people]);
    expect(await screen.findByText("Everybody")).toBeDefined();
    expect(document.title).toBe("Visitors · Countersign console");
    expect(links().at(-1)).toEqual(["Visitors", "/visitors"]);
  });

  test("and tells a guest that it is for operators, when it is, and asks the gateway for nothing", async () => {
    const gateway = new FakeGateway();
    gateway.profile = "guest";
    openConsole(gateway, "/visitors", [...pages, people]);
    expect(await screen.findByText("This page is for operators")).toBeDefined();
    expect(links().map(([label]) => label)).not.toContain("Visitors");
    expect(gateway.asked("policy/describe")).toEqual([]);
  });
});
