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

/** The modules of the editor that are loaded when they are needed. */
const EDITOR =
  /\/editor\/(writing|mounting|threadmarks|inplace|blockwriting|settings|tablemenus|resizing|storedpage|beginnings|dropbeside)\.ts$/;

interface Imports {
  importers: readonly string[];
  dynamicImporters: readonly string[];
}

type Find = (id: string) => Imports | null;

interface Needed {
  /** The modules that are loaded when they are needed and that need this one. */
  roots: string[];
  by: (module: RegExp) => boolean;
}

const WRITING = /\/editor\/writing\.ts$/;

/** Functions that name the file of a module, or return null for the next function. */
const FILES: ((needed: Needed, id: string) => string | null)[] = [
  // The page screen and the navigation next to it, and nothing of screens without page texts.
  ({ by, roots }) =>
    by(/\/(PageScreen|SpaceSide)\.svelte$/) && roots.every((root) => !SCREEN.test(root) || PAGES.test(root))
      ? "page"
      : null,
  // Reviews show pages with the same library, without the editor.
  ({ by }, id) => by(WRITING) && by(SCREEN) && id.includes("/node_modules/") ? "prosemirror" : null,
  ({ by }) => by(WRITING) && by(/\/editor\/richviews\.ts$/) ? "rich" : null,
  ({ by, roots }, id) =>
    by(WRITING) && !roots.every((root) => EDITOR.test(root)) ? id.replace(/.*\/|\..*/g, "") : null,
  ({ by }) => by(WRITING) ? "editor" : null,
];

const rootsOf = (() => {
  const known = new Map<string, Set<string>>();
  return function rootsOf(id: string, find: Find): Set<string> {
    let roots = known.get(id);
    if (roots) return roots;
    known.set(id, roots = new Set());
    const { importers, dynamicImporters } = find(id) ?? { importers: [], dynamicImporters: [] };
    if (dynamicImporters.length) roots.add(id);
    for (const one of importers) for (const root of rootsOf(one, find)) roots.add(root);
    return roots;
  };
})();

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
    // everything that only pages need, and everything that only the editor needs.
    rolldownOptions: {
      output: {
        // The shell lists the names of all files, so long ones make it larger.
        chunkFileNames: "assets/[name]-[hash:7].js",
        assetFileNames: "assets/[name]-[hash:5][extname]",
        codeSplitting: {
          groups: [
            { name: "shell", tags: ["$initial"], priority: 9 },
            ...FILES.map((nameOf, at) => ({
              name: (id: string, context: { getModuleInfo: Find }) => {
                const roots = [...rootsOf(id, (one) => context.getModuleInfo(one))];
                return nameOf({ roots, by: (module) => roots.some((root) => module.test(root)) }, id);
              },
              debugName: `files-${at}`,
              priority: FILES.length - at,
            })),
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
    setupFiles: [join(here, "timers.ts")],
    // A worker for each file would take most of the time.
    isolate: false,
    // Tests don't depend on the speed of the machine.
    testTimeout: 600_000,
  },
});
