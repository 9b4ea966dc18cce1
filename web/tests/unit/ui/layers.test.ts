import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";
import { expect, test } from "vitest";

const configFile = fileURLToPath(new URL("../../../vite.config.ts", import.meta.url));

/** The layers of a sheet in the order in which it first names them. */
function layersOf(sheet: string): string[] {
  const named = [...sheet.matchAll(/@layer\s+([^{;]+)[{;]/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.trim()),
  );
  return [...new Set(named)];
}

// A browser fixes the order at the first mention, and which sheet comes first is up to the bundler: a page on which `base`
// won over `ui` had links in place of buttons, and text in the colour of its ground.
test.each(["console", "shell"])(
  "every sheet of the %s ranks the layers in the same order",
  { timeout: 60_000 },
  async (mode) => {
    const root = fileURLToPath(new URL(`../../../${mode}`, import.meta.url));
    const built = (await build({
      configFile,
      mode,
      root,
      logLevel: "silent",
      build: { write: false },
    })) as Rolldown.RolldownOutput;
    const sheets = built.output.flatMap((file) =>
      file.type === "asset" && file.fileName.endsWith(".css") ? [String(file.source)] : [],
    );
    expect(sheets.length).toBeGreaterThan(0);
    for (const sheet of sheets) expect(layersOf(sheet)).toEqual(["tokens", "base", "ui", "feature"]);
  },
);
