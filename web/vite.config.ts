import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/**
 * Which style sheet wins over which, a later layer over an earlier one. Chunks bring their sheets in an order that nobody
 * chooses, and the first sheet to name a layer would decide; so every sheet begins with the whole order.
 */
const layerOrder: Plugin = {
  name: "layer-order",
  enforce: "pre",
  transform: (code, id) =>
    id.endsWith(".css") ? { code: `@layer tokens, base, ui, feature;\n${code}`, map: null } : null,
};

/**
 * Two apps, one per origin: `vite build --mode shell` and `vite build --mode console`. Each ends in a folder of its own,
 * so that the gateway can serve one without being able to reach the other's files.
 */
export default defineConfig(({ mode: app }) => ({
  root: app,
  plugins: [layerOrder, react()],
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
