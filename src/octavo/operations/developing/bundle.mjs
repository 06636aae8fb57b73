// Bundle the script of an integration into one module. Argument: JSON {entry, development}. Prints JSON to standard
// output: {script} or {problems}. The options are those that integrations expect.

import * as esbuild from "npm:esbuild@0.28.2";

const { entry, development } = JSON.parse(Deno.args[0]);
const mode = JSON.stringify(development ? "development" : "production");

function problem({ text, location }) {
  return { message: text, file: location?.file ?? null, line: location?.line ?? null };
}

let answer;
try {
  const result = await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    logLevel: "silent",
    minify: !development,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    mainFields: ["worker", "browser", "module", "jsnext", "main"],
    conditions: ["worker", "browser", "import", "production"],
    define: { MODE: mode, "process.env.NODE_ENV": mode },
    external: ["node:*", "cloudflare:*"],
    jsx: "automatic",
    jsxImportSource: "@gitbook/runtime",
    loader: { ".raw.js": "text", ".raw.css": "text" },
  });
  answer = { script: result.outputFiles[0].text };
} catch (error) {
  answer = { problems: (error.errors ?? [{ text: String(error) }]).map(problem) };
}
console.log(JSON.stringify(answer));
esbuild.stop();
