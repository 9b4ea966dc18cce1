import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";
import { expect, test } from "vitest";

async function builtPage(): Promise<string> {
  const built = await build({
    configFile: fileURLToPath(new URL("../../../vite.config.ts", import.meta.url)),
    mode: "verifier",
    root: fileURLToPath(new URL("../../../verifier", import.meta.url)),
    logLevel: "silent",
    build: { write: false },
  });
  const { output } = built as Rolldown.RolldownOutput;
  expect(output.map(({ fileName }) => fileName)).toEqual(["index.html"]);
  const [page] = output as readonly (Rolldown.OutputAsset | Rolldown.OutputChunk)[];
  return page?.type === "asset" ? String(page.source) : "";
}

const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

test("is one file, whose policy allows its own bytes and nothing else", { timeout: 60_000 }, async () => {
  const page = await builtPage();
  const scripts = [...page.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, code = ""]) => code);
  const sheets = [...page.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, sheet = ""]) => sheet);
  expect([scripts.length, sheets.length]).toEqual([1, 1]);
  expect(page).not.toMatch(/ (?:src|href)=/);
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.split("; ");
  expect(policy).toEqual([
    "default-src 'none'",
    `script-src ${digest(scripts[0] ?? "")}`,
    `style-src ${digest(sheets[0] ?? "")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
});
