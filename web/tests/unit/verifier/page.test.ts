// @vitest-environment jsdom
import { Blob } from "node:buffer";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

const root = `${import.meta.dirname}/../../../`;
const vectors = `${root}../tests/vectors/audit/`;

/** An exported log that is read for its records, which is after the verdict, when the test says so, and in two pieces. */
class ExportedLog {
  readonly name = "log.jsonl";
  readonly recordsEnded: Promise<string>;
  giveRecords!: () => void;
  private readonly bytes = readFileSync(`${vectors}${this.name}`);
  private readonly whole = new Blob([this.bytes]);
  private readonly mayGive = new Promise<void>((resolve) => {
    this.giveRecords = resolve;
  });
  private end!: (how: string) => void;

  constructor() {
    this.recordsEnded = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  get size(): number {
    return this.whole.size;
  }

  slice(start: number, end: number): Blob {
    return this.whole.slice(start, end);
  }

  stream(): unknown {
    if (at("result").hidden) return this.whole.stream();
    const half = this.bytes.length >> 1;
    const pieces = [this.bytes.subarray(0, half), this.bytes.subarray(half)];
    return new ReadableStream({
      pull: async (stream) => {
        await this.mayGive;
        const piece = pieces.shift();
        if (piece !== undefined) return stream.enqueue(new Uint8Array(piece));
        stream.close();
        this.end("read to its end");
      },
      cancel: () => this.end("given up"),
    });
  }
}

const receipt = Object.assign(new Blob([readFileSync(`${vectors}signed.json`)]), { name: "signed.json" });

let stopListening: (() => void) | undefined;

beforeEach(async () => {
  const html = new DOMParser().parseFromString(readFileSync(`${root}verifier/index.html`, "utf8"), "text/html");
  document.body.replaceChildren(...html.body.children);
  // The page looks at what the person does after every piece that it reads, however fast this machine is.
  let moment = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    moment += 1_000;
    return moment;
  });
  const byDocument = vi.spyOn(document, "addEventListener").mock;
  const byWindow = vi.spyOn(window, "addEventListener").mock;
  vi.resetModules();
  await import("../../../src/verifier/page/main.ts");
  const listeners = { document: [...byDocument.calls], window: [...byWindow.calls] };
  stopListening = () => {
    for (const [type, heard] of listeners.document) document.removeEventListener(type, heard);
    for (const [type, heard] of listeners.window) window.removeEventListener(type, heard);
  };
});

afterEach(() => {
  // The other files have the same document.
  stopListening?.();
  document.body.replaceChildren();
});

test("the records of a log that is read no longer do not come under the verdict about the next file", async () => {
  const log = new ExportedLog();
  drop(log);
  await expectVerdict("The log holds");
  drop(receipt);
  await expectVerdict("The receipt holds");
  await vi.waitFor(() => expect(textOf("records")).not.toBe(""), 10_000);
  const told = textOf("records");
  log.giveRecords();
  expect(await log.recordsEnded).toBe("given up");
  await settle();
  expect(textOf("records")).toBe(told);
});

test("the reading of a log's records can be stopped, and leaves the verdict", async () => {
  const log = new ExportedLog();
  drop(log);
  await expectVerdict("The log holds");
  expect(textOf("doing")).toBe("Listing the records of log.jsonl");
  expect(at("working").hidden).toBe(false);
  at("stop").click();
  expect(at("working").hidden).toBe(true);
  log.giveRecords();
  expect(await log.recordsEnded).toBe("given up");
  await settle();
  expect([textOf("verdict"), textOf("records")]).toEqual(["The log holds", ""]);
});

function at(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
}

const textOf = (id: string) => at(id).textContent;

function drop(file: object): void {
  const dropped = new Event("drop", { bubbles: true, cancelable: true });
  document.body.dispatchEvent(Object.assign(dropped, { dataTransfer: { files: [file] } }));
}

async function expectVerdict(text: string): Promise<void> {
  await vi.waitFor(() => {
    expect([at("result").hidden, textOf("verdict")]).toEqual([false, text]);
  }, 10_000);
}

/** Whatever the page does once a stream has ended waits for nothing else, so it has been done by then. */
async function settle(): Promise<void> {
  await new Promise((resume) => setTimeout(resume));
}
