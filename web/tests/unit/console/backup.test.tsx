// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, expect, test } from "vitest";
import { shellWord } from "../../../src/features/console/backup/shell-word.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);
afterEach(cleanup);

const backup = { file: "countersign-1.tar", size: 2_048, madeAt: "2026-11-25T10:00:00.000Z" };

test("a backup is made after the passkey that the gateway asks for, and is then listed", async () => {
  const gateway = new FakeGateway();
  let signedIn = false;
  gateway.replies["/signin/options"] = () => ({ status: 200, body: {} });
  gateway.replies["/signin/verify"] = () => {
    signedIn = true;
    return { status: 204, body: undefined };
  };
  gateway.handlers = {
    "backups/make": () => {
      if (!signedIn) throw new RpcError(-32004, "confirm with one of your passkeys first", "stepUpRequired");
      return { backup, records: 1_234, root: "ab".repeat(32) };
    },
    "backups/list": () => ({ folder: "/srv/Ann's backups", backups: signedIn ? [backup] : [] }),
  };
  openConsole(gateway, "/backup");
  expect(await screen.findByText("The console has made none yet")).toBeDefined();
  expect(screen.getByText("countersign restore FILE")).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: "Make a backup" }));
  await userEvent.click(await screen.findByRole("button", { name: "Confirm with your passkey" }));
  expect(await screen.findByText(/1,234 records are backed up/)).toBeDefined();
  expect(await screen.findByText("countersign-1.tar")).toBeDefined();
  expect(screen.getByText(String.raw`countersign restore '/srv/Ann'\''s backups/countersign-1.tar'`)).toBeDefined();
});

test("a path goes into a command as one word, and is quoted only where a shell would take it for something else", () => {
  const commands = ["/srv/backups/a-1.tar", "/srv/my backups", "/srv/$(id)", "/srv/ü", "/srv/a\\b", "it's"].map(
    shellWord,
  );
  expect(commands).toEqual([
    "/srv/backups/a-1.tar",
    "'/srv/my backups'",
    "'/srv/$(id)'",
    "'/srv/ü'",
    "'/srv/a\\b'",
    "'it'\\''s'",
  ]);
});
