import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/**
 * Two apps, one per origin: `vite build --mode shell` and `vite build --mode console`. Each ends in a folder of its own,
 * so that the gateway can serve one without being able to reach the other's files.
 */
export default defineConfig(({ mode: app }) => ({
  root: app,
  plugins: [react()],
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
