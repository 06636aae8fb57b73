import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

/** What imports run, each as one module that a process without permissions is handed as a text. */
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
    // There are no files there; the library looks for modules that would open them, and does without.
    resolveId: (id: string) => id.startsWith("node:") ? `\0${id}` : undefined,
    load: (id: string) =>
      id.startsWith("\0node:") ? "throw new Error('There are no files here.')" : undefined,
    // It names the folder that it is in, too, which Vite would write into it as a text.
    transform: (code: string, id: string) =>
      id.includes("@asciidoctor")
        ? code.replaceAll("import.meta.url", '"http://source.invalid/"')
        : undefined,
  }],
});
