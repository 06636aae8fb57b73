import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Builds each import script as one module, which is passed as text to a process without permissions. */
export default defineConfig({
  root: here,
  build: {
    outDir: fileURLToPath(new URL("../../src/octavo/interchange/readers/dist", import.meta.url)),
    emptyOutDir: true,
    target: "esnext",
    modulePreload: false,
    reportCompressedSize: false,
    minify: true,
    lib: { entry: "asciidoc.js", formats: ["es"], fileName: "asciidoc" },
    rolldownOptions: { output: { codeSplitting: false } },
  },
  plugins: [{
    name: "octavo-alone",
    enforce: "pre",
    // The process has no files. The library looks for modules that open them and works without.
    resolveId: (id: string) => id.startsWith("node:") ? `\0${id}` : undefined,
    load: (id: string) =>
      id.startsWith("\0node:") ? "throw new Error('There are no files here.')" : undefined,
    // The library contains the name of its own folder, which Vite would write into the output as text.
    transform: (code: string, id: string) =>
      id.includes("@asciidoctor")
        ? code.replaceAll("import.meta.url", '"http://source.invalid/"')
        : undefined,
  }],
});
