// @vitest-environment jsdom
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { act, cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { readExport } from "../../../src/features/console/audit/export-calls.ts";
import type { AuditedCall } from "../../../src/protocol/generated.ts";
import { requirement } from "../../requirement.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

const VECTOR = join(import.meta.dirname, "../../../../tests/vectors/audit/signed.json");

let gateway: FakeGateway;

beforeEach(() => {
  gateway = new FakeGateway();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

/** What the gateway sends of so many calls. */
function file(text: string, calls: number, name = "calls.jsonl"): Response {
  return new Response(text, {
    headers: { "countersign-calls": String(calls), "content-disposition": `attachment; filename="${name}"` },
  });
}

describe("an export", () => {
  const open = async () => {
    gateway.handlers["audit/calls"] = () => ({ calls: [], unread: 0 });
    gateway.handlers["audit/count"] = () => ({
      since: "2026-11-20T10:00:00.000Z",
      until: "2026-11-21T11:00:00.000Z",
      stepMs: 3_600_000,
      total: 2,
      outcomes: [],
      buckets: [],
      unread: 0,
    });
    openConsole(gateway, "/audit?tool=write_file");
    await userEvent.click(await screen.findByText("Export 2 calls"));
  };

  test("is of what the view shows, and is kept when it is whole", async () => {
    requirement("002-74", "what is filtered is kept as a file, and only when it is whole");
    gateway.environment.fetchFile.mockResolvedValue(file("a\nb\nc\n", 2, "calls.csv"));
    await open();
    await userEvent.click(screen.getByRole("button", { name: "Export" }));
    expect(await screen.findByText("2 calls in calls.csv")).toBeDefined();
    const [path = ""] = gateway.environment.fetchFile.mock.lastCall ?? [];
    const asked = new URLSearchParams(path.split("?")[1]);
    expect([asked.get("format"), asked.get("tool")]).toEqual(["csv", "write_file"]);
    const [name, content] = gateway.environment.saveFile.mock.lastCall ?? [];
    expect([name, content?.size]).toEqual(["calls.csv", 6]);
  });

  test("that was cut off, or refused, is not kept", async () => {
    gateway.environment.fetchFile.mockResolvedValueOnce(file("a\n", 2));
    await open();
    await userEvent.selectOptions(screen.getByLabelText("Format"), "jsonl");
    await userEvent.click(screen.getByRole("button", { name: "Export" }));
    expect(await screen.findByText(/cut off on its way/)).toBeDefined();
    const error = { code: "invalid_params", message: "these are 312,000 calls" };
    gateway.environment.fetchFile.mockResolvedValueOnce(new Response(JSON.stringify({ error }), { status: 400 }));
    await userEvent.click(screen.getByRole("button", { name: "Export" }));
    expect(await screen.findByText("These are 312,000 calls.")).toBeDefined();
    expect(gateway.environment.saveFile).not.toHaveBeenCalled();
  });

  test("that failed while the gateway was away is not told any more when it is back", async () => {
    gateway.environment.fetchFile.mockRejectedValueOnce(new TypeError("Failed to fetch"));
    await open();
    await userEvent.click(screen.getByRole("button", { name: "Export" }));
    const failed = await screen.findByRole("alert");
    act(() => gateway.client.become({ phase: "lost", attempt: 1, retryInMs: 1000, cause: "unreachable" }));
    expect(failed.isConnected).toBe(true);
    act(() => gateway.client.become({ phase: "open" }));
    expect(failed.isConnected).toBe(false);
  });

  test("as Parquet is kept when its end is there", async () => {
    const half = "PAR1\n\n\nrows";
    await expect(readExport(file(half, 2, "calls.parquet"), () => undefined)).rejects.toThrow("cut off on its way");
    await expect(readExport(file("PAR1", 0, "calls.parquet"), () => undefined)).rejects.toThrow("cut off on its way");
    const whole = await readExport(file(`${half}PAR1`, 2, "calls.parquet"), () => undefined);
    expect([whole.name, whole.calls, whole.content.size]).toEqual(["calls.parquet", 2, 15]);
  });

  test("shows how far it is, and stops when asked", async () => {
    let tell: (piece: string) => void = () => undefined;
    gateway.environment.fetchFile.mockImplementation(async (_path, signal) => {
      const text = new TextEncoder();
      const body = new ReadableStream<Uint8Array>({
        start: (pieces) => {
          tell = (piece) => pieces.enqueue(text.encode(piece));
          signal?.addEventListener("abort", () => pieces.error(new DOMException("stopped", "AbortError")));
        },
      });
      return new Response(body, { headers: { "countersign-calls": "2" } });
    });
    await open();
    await userEvent.click(screen.getByRole("button", { name: "Export" }));
    tell("a\n");
    expect(await screen.findByText("1 of 2 calls")).toBeDefined();
    await userEvent.click(screen.getByRole("button", { name: "Stop" }));
    expect(await screen.findByRole("button", { name: "Export" })).toBeDefined();
    expect(screen.queryByRole("progressbar")).toBeNull();
    expect(gateway.environment.saveFile).not.toHaveBeenCalled();
  });

  test("of a gateway that says nothing of itself is still a file", async () => {
    const { name, calls } = await readExport(new Response("a\n"), () => undefined);
    expect([name, calls]).toEqual(["calls", 1]);
    await expect(readExport(new Response("<html>", { status: 502 }), () => undefined)).rejects.toThrow("");
  });
});

describe("verifying a call in its page", () => {
  const open = async (change: (receipt: string) => string, shown?: string) => {
    const receipt = await readFile(VECTOR, "utf8");
    const { conversationId, callId } = JSON.parse(receipt).call;
    const call: AuditedCall = {
      position: 7,
      conversationId,
      callId: shown ?? callId,
      turnId: "trn_1",
      at: "2026-11-21T09:00:00.000Z",
      principalId: "usr_ada",
      principalName: "Ada",
      outcome: "ok",
      rules: [],
      closedAt: "2026-11-21T09:00:01.000Z",
    };
    gateway.handlers["audit/call"] = () => ({ call, entries: [], rules: [] });
    gateway.environment.fetchFile.mockResolvedValue(new Response(change(receipt)));
    openConsole(gateway, "/audit/calls/7");
    const button = await screen.findByRole("button", { name: "Verify this" });
    await userEvent.keyboard("v");
    expect(document.activeElement).toBe(button);
    await userEvent.keyboard("{Enter}");
  };

  test("shows each check of a receipt that holds", async () => {
    requirement("002-73", "a call is verified on its own page, each check a line");
    await open((receipt) => receipt);
    expect(await screen.findByText("The receipt holds")).toBeDefined();
    expect(screen.getAllByText("✓ holds")).toHaveLength(10);
  });

  test("names the first place that is wrong", async () => {
    await open((receipt) => receipt.replace('"outcome":"ok"', '"outcome":"no"'));
    expect(await screen.findByText("The receipt does not hold")).toBeDefined();
    expect(screen.getAllByText("✗ fails")).toHaveLength(1);
    expect(screen.getByText(/^records\[\d+\]/)).toBeDefined();
  });

  test("takes no receipt of another call, and says when there is none", async () => {
    await open((receipt) => receipt, "another");
    expect(await screen.findByText("The gateway gave the receipt of another call.")).toBeDefined();
    gateway.environment.fetchFile.mockResolvedValue(new Response("", { status: 404 }));
    await userEvent.click(screen.getByRole("button", { name: "Verify this" }));
    expect(await screen.findByText("The gateway gave no receipt of this call.")).toBeDefined();
  });
});

describe("the places that the log is sent to", () => {
  const siem = { name: "siem", kind: "syslog", sent: 40, behind: 2, sentAt: "2026-11-21T09:00:00.000Z" };

  test("are told with how far each is, and loudly where one is down", async () => {
    const collector = { name: "otel", kind: "otlp", sent: 0, behind: 42, fault: "it cannot be reached" };
    gateway.handlers["audit/sinks"] = () => ({ sinks: [siem, collector], anchors: [] });
    openConsole(gateway, "/audit");
    expect(await screen.findByText("otel takes no records: it cannot be reached")).toBeDefined();
    expect(screen.getByText("42 records wait in the log and are sent when it is back. None is lost.")).toBeDefined();
    expect(screen.getByText(/The log is sent to 2 places, 1 of them down/)).toBeDefined();
    expect(screen.getByText(/40 records sent, 2 behind/)).toBeDefined();
  });

  test("have checkpoints, with what is not anchored yet and what that means", async () => {
    requirement("002-71", "the dashboard says which anchors there are, when last, and what an un-anchored tail means");
    const git = { name: "git", kind: "git", size: 40, unanchored: 2, anchoredAt: "2026-11-21T09:00:00.000Z" };
    const witness = { name: "w1", kind: "witness", size: 0, unanchored: 42, fault: "it cannot be reached" };
    gateway.handlers["audit/sinks"] = () => ({ sinks: [], anchors: [git, witness] });
    openConsole(gateway, "/audit");
    expect(await screen.findByText("w1 takes no checkpoint: it cannot be reached")).toBeDefined();
    expect(screen.getByText("Checkpoints are kept in 2 places outside this host")).toBeDefined();
    expect(screen.getByText(/40 records anchored, 2 not yet/)).toBeDefined();
    expect(screen.getByText(/rests on this host alone/)).toBeDefined();
  });

  test("say that no checkpoint is kept elsewhere", async () => {
    openConsole(gateway, "/audit");
    expect(await screen.findByText("No checkpoint is kept outside this host")).toBeDefined();
  });

  test("are not asked for by whoever sees only their own calls", async () => {
    gateway.profile = "guest";
    openConsole(gateway, "/audit");
    expect(await screen.findByText("No call in this time")).toBeDefined();
    expect(gateway.asked("audit/sinks")).toEqual([]);
  });
});
