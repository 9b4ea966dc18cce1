// @vitest-environment jsdom
import { act, cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PolicyCell, PolicyOverview } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;
let overview: PolicyOverview;

const cell: PolicyCell = {
  category: "write",
  mode: "consent",
  because: [{ id: "write.consent", why: "This changes <b>files</b>\u202e" }],
  changes: [{ label: "high", mode: "forbidden", because: [] }],
  exceptions: [{ tool: "erase", mode: "stepUp", because: [{ id: "own.erase", why: "It erases" }] }],
  exceptionCount: 3,
};

beforeEach(() => {
  gateway = new FakeGateway();
  overview = {
    version: "ab".repeat(32),
    scope: "everybody",
    assumesMoment: false,
    rows: [
      { profile: "operator", cells: [cell] },
      {
        profile: "guest",
        cells: [{ category: "write", mode: "forbidden", because: [], changes: [], exceptions: [], exceptionCount: 0 }],
      },
    ],
  };
  gateway.handlers["policy/overview"] = () => overview;
});

afterEach(cleanup);

describe("the policy", () => {
  test("is a table of people and kinds of action, with the mode in words and the sentence why", async () => {
    openConsole(gateway, "/policy");
    const row = (await screen.findByRole("rowheader", { name: "Write files" })).closest("tr");
    expect(screen.getAllByRole("columnheader").map((each) => each.textContent)).toEqual(["To", "Operators", "Guests"]);
    expect(row?.textContent).toContain("Asks first");
    expect(row?.textContent).toContain("3 tools differ");
    expect(row?.textContent).toContain("Never runsNo rule permits it");
    // The author's sentence is text, and what would turn it around is made visible.
    expect(row?.textContent).toContain("This changes <b>files</b>U+202E");
    expect(screen.queryByText(/Monday/)).toBeNull();
  });

  test("explains a field: which rules decide, what would change it, and which tools differ", async () => {
    openConsole(gateway, "/policy");
    await userEvent.click(await screen.findByRole("button", { name: /Asks first/ }));
    const dialog = screen.getByRole("dialog", { name: "Operators: Write files" });
    for (const words of [
      "write.consent",
      "In a conversation with the label high:Never runsNo rule permits it, and what no rule permits is forbidden.",
      "eraseNeeds a passkeyIt erases own.erase",
      "and 2 more",
    ]) {
      expect(dialog.textContent).toContain(words);
    }
    await userEvent.click(within(dialog).getByRole("button", { name: "Close" }));
    await userEvent.click(screen.getByRole("button", { name: /Never runs/ }));
    expect(screen.getByRole("dialog", { name: "Guests: Write files" }).textContent).toContain(
      "Neither untrusted content nor a label",
    );
  });

  test("shows somebody who is no operator one column, a host with its name, and what it assumes", async () => {
    gateway.profile = "guest";
    overview = {
      ...overview,
      scope: "own",
      assumesMoment: true,
      rows: [
        {
          profile: "guest",
          cells: [
            {
              ...cell,
              category: "network",
              host: "docs.example.com",
              changes: [{ taint: 1, mode: "stepUp", because: [] }],
            },
          ],
        },
      ],
    };
    openConsole(gateway, "/policy");
    await screen.findByRole("rowheader", { name: "Reach the host docs.example.com" });
    expect(screen.getAllByRole("columnheader").map((each) => each.textContent)).toEqual(["To", "You"]);
    expect(screen.getByText(/on a Monday at midnight/)).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: /Asks first/ }));
    const dialog = screen.getByRole("dialog", { name: "You: Reach the host" });
    expect(dialog.textContent).toContain("After the conversation has read untrusted content");
  });

  test("is read again as soon as another version is in force, and an open field shows that version", async () => {
    openConsole(gateway, "/policy");
    await userEvent.click(await screen.findByRole("button", { name: /Asks first/ }));
    overview = { ...overview, rows: [{ profile: "operator", cells: [{ ...cell, mode: "auto" }] }] };
    act(() => gateway.client.notify("policy/changed", { policyVersion: "cd".repeat(32) }));
    expect(await within(screen.getByRole("dialog")).findByText("Runs by itself")).toBeTruthy();
  });

  test("says what went wrong where the gateway cannot tell", async () => {
    gateway.handlers["policy/overview"] = () => {
      throw new RpcError(-32603, "the policy does not answer");
    };
    openConsole(gateway, "/policy");
    expect(await screen.findByRole("alert")).toBeTruthy();
  });
});
