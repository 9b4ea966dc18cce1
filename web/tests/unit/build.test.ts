import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Rolldown } from "vite";
import { describe, expect, test, vi } from "vitest";
import { type ConsolePage, consolePages } from "../../src/features/console/pages.tsx";
import { shellPages } from "../../src/features/shell/pages.ts";

// Vitest calls this a test, and React would bring what helps to find mistakes.
vi.stubEnv("NODE_ENV", "production");

const configFile = fileURLToPath(new URL("../../vite.config.ts", import.meta.url));

async function builtFiles(mode: string): Promise<ReadonlyMap<string, string>> {
  const root = fileURLToPath(new URL(`../../${mode}`, import.meta.url));
  const { output } = (await build({
    configFile,
    mode,
    root,
    logLevel: "silent",
    build: { write: false },
  })) as Rolldown.RolldownOutput;
  return new Map(output.map((file) => [file.fileName, file.type === "asset" ? String(file.source) : file.code]));
}

/** What a browser fetches before it shows the page of the address `/`, in bytes as they are sent. */
function firstLoad(files: ReadonlyMap<string, string>): number {
  const page = files.get("index.html") ?? "";
  const named = [...page.matchAll(/"\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name = ""]) => name);
  expect(named.some((name) => name.endsWith(".js"))).toBe(true);
  return [page, ...named.map((name) => files.get(name) ?? "")].reduce(
    (bytes, source) => bytes + gzipSync(source, { level: 9 }).length,
    0,
  );
}

const KIB = 1024;

/** The layers of a sheet in the order in which it first names them. */
function layersOf(sheet: string): string[] {
  const named = [...sheet.matchAll(/@layer\s+([^{;]+)[{;]/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.trim()),
  );
  return [...new Set(named)];
}

describe.each([
  ["console", consolePages, 100 * KIB],
  ["shell", shellPages, 124 * KIB],
] as const)("the build of the %s", (app, pages, budget) => {
  const files = builtFiles(app);

  test("tells the gateway the paths of its pages, and no others", { timeout: 60_000 }, async () => {
    const paths = JSON.parse((await files).get("pages.json") ?? "null");
    expect(paths).toEqual(pages.map(({ path }) => path));
  });

  // The gateway names them with the page: each that waits for the one before takes a round trip more.
  test("tells the gateway what each page is loaded with, beside what is loaded first", {
    timeout: 60_000,
  }, async () => {
    const built = await files;
    const preloads: Record<string, string[]> = JSON.parse(built.get("preloads.json") ?? "{}");
    const later = (pages as readonly ConsolePage[]).filter(({ loads }) => loads !== undefined);
    expect(Object.keys(preloads)).toEqual(later.map(({ path }) => path));
    for (const name of Object.values(preloads).flat()) {
      expect(built.has(name)).toBe(true);
      expect(built.get("index.html")).not.toContain(name);
    }
    if (app === "console") expect(preloads["/audit"]?.some((name) => /Calls-.*\.js$/.test(name))).toBe(true);
  });

  // On a phone's connection every 100 KiB more are about a second more; what is not needed at once is loaded later.
  test("keeps what is loaded first within its budget", { timeout: 60_000 }, async () => {
    expect(firstLoad(await files)).toBeLessThanOrEqual(budget);
  });

  // A browser fixes the order at the first mention, and which sheet comes first is up to the bundler: a page on which
  // `base` won over `ui` had links in place of buttons, and text in the colour of its ground.
  test("ranks the layers of every sheet in the same order", { timeout: 60_000 }, async () => {
    const sheets = [...(await files)].filter(([name]) => name.endsWith(".css")).map(([, source]) => source);
    expect(sheets.length).toBeGreaterThan(0);
    for (const sheet of sheets) expect(layersOf(sheet)).toEqual(["tokens", "base", "ui", "feature"]);
  });
});
