import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/**
 * Two apps, one per origin: `vite build --mode shell` and `vite build --mode console`. Each ends in a folder of its own,
 * so that the gateway can serve one without being able to reach the other's files.
 */
export default defineConfig(({ mode: app }) => ({
  root: app,
  plugins: [react(), gzipped()],
  publicDir: false,
  build: {
    outDir: `../dist/${app}`,
    emptyOutDir: true,
    target: "es2023",
    // The policy allows no data: scripts or styles, and the polyfill would be an inline one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
}));

/** A `.gz` beside every file that gains by it, so that the gateway compresses nothing while it serves. */
function gzipped(): Plugin {
  return {
    name: "gzipped",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        const plain = Buffer.from(file.type === "chunk" ? file.code : file.source);
        const source = gzipSync(plain, { level: 9 });
        if (source.length < plain.length * 0.9)
          this.emitFile({ type: "asset", fileName: `${file.fileName}.gz`, source });
      }
    },
  };
}
