// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

const ROWS = ["1101", "0010", "1111", "0000"];
const LINK = "https://console.example.org/device#t=TOKEN";

let gateway: FakeGateway;
let state: string;

beforeEach(() => {
  gateway = new FakeGateway();
  state = "waiting";
  gateway.replies["/devices/offer"] = () => ({ status: 200, body: { link: LINK, seconds: 300, qr: ROWS } });
  gateway.replies["/devices/look"] = () => ({ status: 200, body: { state } });
});

afterEach(cleanup);

/** The rows that a drawing of rectangles `M x y h width v1 h-width z` makes. */
function rowsOf(drawing: string, size: number): string[] {
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => "0"));
  for (const [, x = "", y = "", width = ""] of drawing.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    for (let column = Number(x); column < Number(x) + Number(width); column++) (rows[Number(y)] ?? [])[column] = "1";
  return rows.map((row) => row.join(""));
}

describe("the link for a phone", () => {
  test("is a code that holds what the gateway gave, and goes when a device has opened it", async () => {
    Object.assign(gateway.environment, { origin: "https://console.example.org" });
    openConsole(gateway, "/passkeys");
    await userEvent.click(await screen.findByRole("button", { name: "Make a code" }));
    const code = await screen.findByRole("img", { name: "QR code of the link below" });
    expect(rowsOf(code.querySelector("path")?.getAttribute("d") ?? "", ROWS.length)).toEqual(ROWS);
    state = "opened";
    expect(
      (await screen.findByText("A device opened the link", {}, { timeout: 5_000 })).closest("[role=status]"),
    ).not.toBeNull();
    expect(screen.queryByRole("img")).toBeNull();
    state = "registered";
    await screen.findByText("The device has its passkey", {}, { timeout: 5_000 });
  });

  test("has no code where no phone can come, and says where to read on", async () => {
    openConsole(gateway, "/passkeys");
    expect((await screen.findByText("docs/PHONE.md")).textContent).toBe("docs/PHONE.md");
    await userEvent.click(screen.getByRole("button", { name: "Make a link" }));
    await screen.findByText(/#t=TOKEN/);
    expect(screen.queryByRole("img")).toBeNull();
  });

  test("is taken by the browser that shows it before anything is pressed", async () => {
    gateway.session = false;
    gateway.replies["/devices/options"] = () => ({ status: 200, body: { user: { name: "Nora" } } });
    gateway.replies["/devices/verify"] = () => {
      gateway.session = true;
      return { status: 204, body: undefined };
    };
    openConsole(gateway, "/device#t=TOKEN");
    await screen.findByText("Nora");
    expect(gateway.posts.map(({ path }) => path)).toEqual(["/devices/options"]);
    await userEvent.type(screen.getByLabelText("Name of this device"), "phone");
    await userEvent.click(screen.getByRole("button", { name: "Register a passkey" }));
    await screen.findByText("Hello, Nora");
    expect(gateway.posts.at(-1)).toMatchObject({ path: "/devices/verify", body: { token: "TOKEN", name: "phone" } });
  });

  test("that somebody else opened says so, and how to make another", async () => {
    gateway.session = false;
    gateway.replies["/devices/options"] = () => ({
      status: 410,
      body: {
        error: { code: "refused", reason: "deviceLink", message: "this link was opened already or has run out" },
      },
    });
    openConsole(gateway, "/device#t=TOKEN");
    await screen.findByText("This link was opened already or has run out.");
    expect(screen.queryByRole("button", { name: "Register a passkey" })).toBeNull();
  });
});
