import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";
import { describe, expect, test } from "vitest";
import { consolePages } from "../../src/features/console/pages.tsx";
import { shellPages } from "../../src/features/shell/pages.ts";

const configFile = fileURLToPath(new URL("../../vite.config.ts", import.meta.url));

async function builtAssets(mode: string): Promise<ReadonlyMap<string, string>> {
  const root = fileURLToPath(new URL(`../../${mode}`, import.meta.url));
  const { output } = (await build({
    configFile,
    mode,
    root,
    logLevel: "silent",
    build: { write: false },
  })) as Rolldown.RolldownOutput;
  return new Map(output.flatMap((file) => (file.type === "asset" ? [[file.fileName, String(file.source)]] : [])));
}

/** The layers of a sheet in the order in which it first names them. */
function layersOf(sheet: string): string[] {
  const named = [...sheet.matchAll(/@layer\s+([^{;]+)[{;]/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.trim()),
  );
  return [...new Set(named)];
}

describe.each([
  ["console", consolePages],
  ["shell", shellPages],
] as const)("the build of the %s", (app, pages) => {
  const assets = builtAssets(app);

  test("tells the gateway the paths of its pages, and no others", { timeout: 60_000 }, async () => {
    const paths = JSON.parse((await assets).get("pages.json") ?? "null");
    expect(paths).toEqual(pages.map(({ path }) => path));
  });

  // A browser fixes the order at the first mention, and which sheet comes first is up to the bundler: a page on which
  // `base` won over `ui` had links in place of buttons, and text in the colour of its ground.
  test("ranks the layers of every sheet in the same order", { timeout: 60_000 }, async () => {
    const sheets = [...(await assets)].filter(([name]) => name.endsWith(".css")).map(([, source]) => source);
    expect(sheets.length).toBeGreaterThan(0);
    for (const sheet of sheets) expect(layersOf(sheet)).toEqual(["tokens", "base", "ui", "feature"]);
  });
});
