import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type Rolldown, runnerImport, transformWithOxc } from "vite";

/**
 * Two apps, one per origin: `vite build --mode shell` and `vite build --mode console`. Each ends in a folder of its own,
 * so that the gateway can serve one without being able to reach the other's files. `--mode verifier` makes the page that
 * checks receipts and logs: one file, which is opened from a disk.
 */
export default defineConfig(({ mode: app }) => ({
  root: app,
  plugins:
    app === "verifier"
      ? [layered(), single()]
      : [layered(), react(), addressed(app), licensed(), installable(app), pushed(app), gzipped()],
  publicDir: false,
  // React itself has had this hook since version 18, which is the oldest that the router serves.
  resolve: { alias: { "use-sync-external-store/shim/index.js": "react" } },
  build: {
    outDir: `../dist/${app}`,
    emptyOutDir: true,
    target: "es2023",
    // The policy allows no data: scripts or styles, and the polyfill would be an inline one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: app === "verifier" ? {} : { codeSplitting: { groups: [{ name: loadedAtOnce }] } },
    },
  },
}));

/**
 * Which style sheet wins over which, a later layer over an earlier one. Chunks bring their sheets in an order that nobody
 * chooses, and the first sheet to name a layer would decide; so every sheet begins with the whole order.
 */
function layered(): Plugin {
  const order = "@layer tokens, base, ui, feature;";
  return {
    name: "layered",
    enforce: "pre",
    transform: (code, id) => (id.endsWith(".css") ? { code: `${order}\n${code}`, map: null } : null),
  };
}

/**
 * One chunk for what the entry imports, as if nothing in it waited for a language: among modules that wait, the bundler makes
 * a chunk for each set of pages that share one, and the first load would be dozens of files.
 */
function loadedAtOnce(id: string, graph: { getModuleInfo: (id: string) => Rolldown.ModuleInfo | null }): string | null {
  const seen = new Set<string>();
  const isAtOnce = (each: string): boolean => {
    if (seen.has(each)) return false;
    seen.add(each);
    const info = graph.getModuleInfo(each);
    return info !== null && (info.isEntry || info.importers.some(isAtOnce));
  };
  return isAtOnce(id) ? "index" : null;
}

/** Where the pages of each app are listed. */
const PAGES: Readonly<Record<string, readonly [file: string, table: string]>> = {
  shell: ["src/features/shell/pages.ts", "shellPages"],
  console: ["src/features/console/pages.tsx", "consolePages"],
};

/** The file of each page that is loaded when it is shown, by its name in this table. */
const LOADERS = "src/features/console/page-loaders.ts";

/**
 * `pages.json`: the paths of the app's pages, so that the gateway serves the app there and has no list of its own. And
 * `preloads.json`: what the page of a path is loaded with, so that the gateway can name it before the script that asks for it runs.
 */
function addressed(app: string): Plugin {
  return {
    name: "addressed",
    apply: "build",
    async generateBundle(_, bundle) {
      const [file = "", table = ""] = PAGES[app] ?? [];
      type Tables = Readonly<Record<string, readonly { readonly path: string; readonly loads?: string }[]>>;
      const { module } = await runnerImport<Tables>(fileURLToPath(new URL(file, import.meta.url)), {
        configFile: false,
        logLevel: "silent",
        plugins: [unstyled()],
      });
      const source = JSON.stringify(module[table]?.map(({ path }) => path));
      this.emitFile({ type: "asset", fileName: "pages.json", source });
      if (app !== "console") return;
      const filesOf = await loadedFiles(Object.values(bundle));
      const preloads = module[table]?.flatMap(({ path, loads }) => (loads ? [[path, filesOf(loads)]] : []));
      this.emitFile({
        type: "asset",
        fileName: "preloads.json",
        source: JSON.stringify(Object.fromEntries(preloads ?? [])),
      });
    },
  };
}

/** Gives the scripts and style sheets that a page of the table is loaded with, without those that are there at once. */
async function loadedFiles(bundle: readonly (Rolldown.OutputChunk | Rolldown.OutputAsset)[]) {
  const chunks = bundle.filter((file) => file.type === "chunk");
  const named = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const table = fileURLToPath(new URL(LOADERS, import.meta.url));
  const modules = new Map(
    [...(await readFile(table, "utf8")).matchAll(/(\w+): async[^"]+import\("([^"]+)"\)/g)].map(
      ([, name = "", path = ""]) => [name, join(dirname(table), path)],
    ),
  );
  const chunkOf = (module: string) => chunks.find(({ facadeModuleId }) => facadeModuleId === module)?.fileName ?? "";
  const withImports = (name: string, found = new Set<string>()): Set<string> => {
    const chunk = named.get(name);
    if (chunk === undefined || found.has(name)) return found;
    found.add(name);
    for (const each of chunk.imports) withImports(each, found);
    return found;
  };
  const atOnce = new Set(chunks.filter(({ isEntry }) => isEntry).flatMap(({ fileName }) => [...withImports(fileName)]));
  return (page: string): readonly string[] => {
    const module = modules.get(page);
    if (module === undefined || chunkOf(module) === "") throw new Error(`no file of the build is the page ${page}`);
    const scripts = [...withImports(chunkOf(module), withImports(chunkOf(table)))].filter((name) => !atOnce.has(name));
    return scripts.flatMap((name) => [name, ...(named.get(name)?.viteMetadata?.importedCss ?? [])]);
  };
}

/** The faces' licence beside them: whoever hands on the fonts hands on these words (SIL Open Font License 1.1, condition 2). */
function licensed(): Plugin {
  const folder = fileURLToPath(new URL("src/assets/fonts/", import.meta.url));
  return {
    name: "licensed",
    apply: "build",
    async generateBundle() {
      const texts = await Promise.all(
        ["Inter", "JetBrainsMono"].map((name) => readFile(join(folder, `${name}-OFL.txt`))),
      );
      this.emitFile({ type: "asset", fileName: "fonts-licence.txt", source: Buffer.concat(texts) });
    },
  };
}

/** What makes the console a page that a phone can keep beside its apps (W3C Web Application Manifest), with its icon. */
function installable(app: string): Plugin {
  return {
    name: "installable",
    apply: "build",
    async generateBundle() {
      if (app !== "console") return;
      const icon = await readFile(fileURLToPath(new URL("src/assets/icon.svg", import.meta.url)));
      this.emitFile({ type: "asset", fileName: "icon.svg", source: icon });
      const manifest = {
        name: "Countersign console",
        short_name: "Countersign",
        id: "/",
        start_url: "/",
        scope: "/",
        display: "standalone",
        background_color: "#f3f5f4",
        theme_color: "#0d3a31",
        icons: [{ src: "/icon.svg", sizes: "any", type: "image/svg+xml", purpose: "any" }],
      };
      this.emitFile({ type: "asset", fileName: "manifest.webmanifest", source: JSON.stringify(manifest) });
    },
    transformIndexHtml: () =>
      app === "console"
        ? [{ tag: "link", attrs: { rel: "manifest", href: "/manifest.webmanifest" }, injectTo: "head" as const }]
        : [],
  };
}

/** `push-worker.js`: the console's service worker, a plain script under a name that never changes. */
function pushed(app: string): Plugin {
  const file = fileURLToPath(new URL("src/push-worker/worker.ts", import.meta.url));
  return {
    name: "pushed",
    apply: "build",
    async generateBundle() {
      if (app !== "console") return;
      const { code } = await transformWithOxc(await readFile(file, "utf8"), file, { sourcemap: false });
      this.emitFile({ type: "asset", fileName: "push-worker.js", source: code });
    },
  };
}

/** Loads components without their style sheets, which only a browser needs. */
function unstyled(): Plugin {
  const empty = "\0unstyled";
  return {
    name: "unstyled",
    enforce: "pre",
    resolveId: (source) => (source.endsWith(".css") ? empty : null),
    load: (id) => (id === empty ? "export default {};" : null),
  };
}

/**
 * A `.gz` beside every file that gains by it, so that the gateway compresses nothing while it serves. Made from what was
 * written: chunks in memory still hold placeholders that other plugins fill last.
 */
function gzipped(): Plugin {
  return {
    name: "gzipped",
    apply: "build",
    async writeBundle(options, bundle) {
      const folder = options.dir ?? "";
      for (const name of Object.keys(bundle)) {
        const plain = await readFile(join(folder, name));
        const packed = gzipSync(plain, { level: 9 });
        if (packed.length < plain.length * 0.9) await writeFile(join(folder, `${name}.gz`), packed);
      }
    },
  };
}

/** Everything in the page itself, and a policy that allows these bytes of script and style, no network and nothing else. */
function single(): Plugin {
  return {
    name: "single",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      const [script, ...others] = Object.values(bundle).filter((file) => file.type === "chunk");
      const [style, ...sheets] = Object.values(bundle).filter(({ fileName }) => fileName.endsWith(".css"));
      if (
        page?.type !== "asset" ||
        script === undefined ||
        style?.type !== "asset" ||
        others.length + sheets.length > 0
      ) {
        throw new Error("the verifier is one page, one script and one sheet");
      }
      const sheet = String(style.source).trim();
      const code = script.code.trim();
      if (/<\/script|<!--/i.test(code) || /<\/style/i.test(sheet))
        throw new Error("the page would end inside its own script");
      const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
      const policy = [
        "default-src 'none'",
        `script-src ${digest(code)}`,
        `style-src ${digest(sheet)}`,
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ];
      page.source = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${sheet}</style>`)
        .replace("</body>", () => `<script type="module">${code}</script></body>`)
        .replace("%POLICY%", policy.join("; "));
      delete bundle[script.fileName];
      delete bundle[style.fileName];
    },
  };
}
