// @vitest-environment jsdom

import { createHash } from "node:crypto";
import { cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, expect, test } from "vitest";
import { canonicalText } from "../../../src/features/console/approvals/challenge.ts";
import type { Setting } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);
afterEach(cleanup);

const approval: Setting = {
  name: "approval_seconds",
  value: 120,
  configured: 120,
  place: "default",
  fixed: false,
  least: 10,
  most: 86_400,
  words: [],
};
const level: Setting = {
  name: "log_level",
  value: "info",
  configured: "info",
  place: "environment",
  fixed: true,
  words: ["debug", "info"],
};

/** A gateway with these settings, which asks for a signature over what the page wished, or over `told` in its place. */
function gatewayWith(told: Record<string, unknown> = {}) {
  const gateway = new FakeGateway();
  let settings = [approval, level];
  let wished: Record<string, unknown> = {};
  gateway.handlers = {
    "settings/list": () => ({ version: "a".repeat(64), settings }),
    "settings/ask": ({ name, value, base }) => {
      wished = { type: "countersign.setting-change", setting: name, value: value ?? null, base, ...told };
      const hash = createHash("sha256").update(canonicalText(wished)).digest();
      return {
        statement: wished,
        statementDigest: hash.toString("hex"),
        passkeyOptions: { challenge: hash.toString("base64url") },
      };
    },
    "settings/change": () => {
      const value = wished.value as number | null;
      settings = [{ ...approval, value: value ?? 120, place: value === null ? "default" : "console" }, level];
      return { version: "b".repeat(64), settings };
    },
  };
  return gateway;
}

async function change(to: string) {
  await userEvent.click(await screen.findByRole("button", { name: "Change: Time to answer a question" }));
  const dialog = within(screen.getByRole("dialog"));
  const field = dialog.getByRole("textbox", { name: "New value" });
  await userEvent.clear(field);
  await userEvent.type(field, to);
  return dialog;
}

test("a setting is changed with a passkey over what the page shows, and put back", async () => {
  const gateway = gatewayWith();
  openConsole(gateway, "/settings");
  const dialog = await change("60");
  await userEvent.click(dialog.getByRole("button", { name: "Change with your passkey" }));
  expect(await screen.findByText("60 seconds")).toBeDefined();
  expect(screen.getByText("changed here")).toBeDefined();
  const [options] = gateway.environment.askPasskey.mock.calls[0] ?? [];
  expect(options).toMatchObject({ rpId: "console.localhost", userVerification: "required" });
  await userEvent.click(screen.getByRole("button", { name: /Put back to 120 seconds/ }));
  expect(await screen.findByText("120 seconds")).toBeDefined();
});

test("what cannot be the value is said at once, and what is set elsewhere has no button", async () => {
  openConsole(gatewayWith(), "/settings");
  const dialog = await change("9");
  expect(dialog.getByText("It cannot be that.")).toBeDefined();
  expect(dialog.getByRole("button", { name: "Change with your passkey" })).toHaveProperty("disabled", true);
  expect(screen.queryByRole("button", { name: "Change: Log of the process" })).toBeNull();
  expect(screen.getByText("set in the environment")).toBeDefined();
});

test("a gateway that asks for a signature over another value gets none", async () => {
  const gateway = gatewayWith({ value: 86_400 });
  openConsole(gateway, "/settings");
  const dialog = await change("60");
  await userEvent.click(dialog.getByRole("button", { name: "Change with your passkey" }));
  expect(await dialog.findByText(/signature over something else/)).toBeDefined();
  expect(gateway.environment.askPasskey).not.toHaveBeenCalled();
});

test("a change that somebody else was faster with is said", async () => {
  const gateway = gatewayWith();
  gateway.handlers["settings/change"] = () => {
    throw new RpcError(-32004, "somebody has changed a setting meanwhile; look at what they are now", "conflict");
  };
  openConsole(gateway, "/settings");
  const dialog = await change("60");
  await userEvent.click(dialog.getByRole("button", { name: "Change with your passkey" }));
  expect(await dialog.findByText(/Somebody has changed a setting meanwhile/)).toBeDefined();
});
