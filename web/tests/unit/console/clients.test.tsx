// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;
let clients: Client[];

beforeEach(() => {
  gateway = new FakeGateway();
  clients = [
    {
      clientId: "con_1",
      transport: "stdio",
      principal: "usr_1",
      principalName: "Nora",
      name: "editor\u202e",
      version: "1.2",
      since: "2026-11-21T10:00:00.000Z",
      lastCallAt: "2026-11-21T10:01:00.000Z",
      connections: 1,
      label: "confidential",
      expiresAt: "2026-11-21T22:00:00.000Z",
    },
    {
      clientId: "cgr_1",
      transport: "http",
      principal: "usr_2",
      principalName: "Gil",
      name: "",
      version: "",
      since: "2026-11-21T10:00:00.000Z",
      connections: 0,
      label: "public",
      expiresAt: "2026-11-21T22:00:00.000Z",
    },
  ];
  gateway.handlers["clients/list"] = () => ({ clients });
});

afterEach(cleanup);

describe("clients", () => {
  test("are shown with what they call themselves made visible, for whom they act and how they came in", async () => {
    openConsole(gateway, "/clients");
    // The navigation has items and the page's frame a heading, both before the clients are read.
    await screen.findByRole("heading", { level: 2, name: "A client without a name" });
    const [local, remote] = screen.getAllByRole("listitem").filter((item) => item.querySelector("h2"));
    expect(local?.textContent).toContain("U+202E");
    for (const word of ["1.2", "this machine", "confidential", "Acts forNora", "Connections1"]) {
      expect(local?.textContent).toContain(word);
    }
    for (const word of ["A client without a name", "over HTTP", "Acts forGil", "Last callnone yet", "Connections0"]) {
      expect(remote?.textContent).toContain(word);
    }
    expect(remote?.textContent).not.toContain("public");
  });

  test("are disconnected and gone", async () => {
    clients = clients.slice(0, 1);
    gateway.handlers["clients/disconnect"] = () => {
      clients = [];
      return {};
    };
    openConsole(gateway, "/clients");
    await userEvent.click(await screen.findByRole("button", { name: "Disconnect" }));
    expect(await screen.findByText("No client is connected")).toBeDefined();
    expect(gateway.asked("clients/disconnect")).toEqual([{ clientId: "con_1" }]);
  });

  test("that have gone already are said to have", async () => {
    clients = clients.slice(1);
    gateway.handlers["clients/disconnect"] = () => {
      throw new RpcError(-32003, "there is no such client; it may have gone already");
    };
    openConsole(gateway, "/clients");
    await userEvent.click(await screen.findByRole("button", { name: "Disconnect" }));
    expect(await screen.findByText(/no such client/)).toBeDefined();
  });
});
