/// <reference types="vitest/config" />
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";
import { texts } from "./texts.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const output = join(here, "../src/octavo/delivery/studio/dist");

/** Write a compressed file next to each text file, so that no server has to compress it again. */
function compressed(): Plugin {
  return {
    name: "octavo-compressed",
    apply: "build",
    writeBundle() {
      for (const entry of readdirSync(output, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(js|css|svg|html)$/.test(entry.name)) continue;
        const file = join(entry.parentPath, entry.name);
        const bytes = readFileSync(file);
        writeFileSync(
          `${file}.br`,
          brotliCompressSync(bytes, {
            params: {
              [constants.BROTLI_PARAM_QUALITY]: 11,
              [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
            },
          }),
        );
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

/** The screens that show the text of pages. */
const PAGES = /\/screens\/(Page|Review|Conflicts|History|Preview|Reusable|Discussion)Screen\.svelte$/;
const SCREEN = /\/screens\/\w+\.svelte$/;

interface Imports {
  importers: readonly string[];
  dynamicImporters: readonly string[];
}

/** Return a function that returns whether a module is part of the page screen and of no screen without page texts. */
function ofPages(): (id: string, find: (id: string) => Imports | null) => boolean {
  const known = new Map<string, Set<string>>();
  const rootsOf = (id: string, find: (id: string) => Imports | null): Set<string> => {
    let roots = known.get(id);
    if (roots) return roots;
    known.set(id, roots = new Set());
    const { importers, dynamicImporters } = find(id) ?? { importers: [], dynamicImporters: [] };
    if (dynamicImporters.length) roots.add(id);
    for (const one of importers) for (const root of rootsOf(one, find)) roots.add(root);
    return roots;
  };
  return (id, find) => {
    const roots = [...rootsOf(id, find)];
    return roots.some((root) => root.endsWith("/PageScreen.svelte")) &&
      roots.every((root) => !SCREEN.test(root) || PAGES.test(root));
  };
}
const isOfPages = ofPages();

export default defineConfig({
  root: join(here, "studio"),
  plugins: [texts(), svelte({ configFile: join(here, "svelte.config.js") }), compressed()],
  build: {
    outDir: output,
    emptyOutDir: true,
    target: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Everything needed for the first screen is in one file: it compresses better, and it is one request. So is
    // everything that only pages need.
    rolldownOptions: {
      output: {
        // The shell lists the names of all files, so long ones make it larger.
        chunkFileNames: "assets/[name]-[hash:7].js",
        assetFileNames: "assets/[name]-[hash:6][extname]",
        codeSplitting: {
          groups: [
            { name: "shell", tags: ["$initial"], priority: 2 },
            {
              name: (id, context) => isOfPages(id, (one) => context.getModuleInfo(one)) ? "page" : null,
              debugName: "page",
              priority: 1,
            },
          ],
        },
      },
    },
  },
  server: { fs: { allow: [join(here, "..")] } },
  resolve: process.env.VITEST ? { conditions: ["browser"] } : {},
  test: {
    root: here,
    include: ["{shared,studio,reader,portal}/**/*.test.ts"],
    environment: "happy-dom",
    // A worker for each file would take most of the time.
    isolate: false,
    // Tests don't depend on the speed of the machine.
    testTimeout: 600_000,
  },
});
