import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { CALL } from "./shared/texts.ts";

const WORDS = fileURLToPath(new URL("./shared/words/", import.meta.url));

/**
 * Replace each key of an interface text with its English text and its index in the catalogs, which become plain lists.
 * Every screen then contains its own English, no catalog is loaded for it, and keys are never sent.
 */
export function texts(): Plugin {
  const english: Record<string, unknown> = JSON.parse(readFileSync(`${WORDS}en.json`, "utf8"));
  const keys = Object.keys(english);
  const places = new Map(keys.map((key, at) => [key, at]));
  return {
    name: "octavo-texts",
    enforce: "pre",
    transform(code, id) {
      if (id.startsWith(WORDS) && id.endsWith(".json")) {
        const catalog = JSON.parse(code);
        return { code: JSON.stringify(keys.map((key) => catalog[key] ?? null)), map: null };
      }
      if (!/\.(ts|svelte)$/.test(id) || id.includes("/node_modules/")) return;
      const replaced = code.replace(CALL, (_, name, key) => {
        if (!places.has(key)) this.error(`${key} is not a key of en.json`);
        return `${name}(${JSON.stringify([places.get(key), english[key]])}`;
      });
      return { code: replaced, map: null };
    },
  };
}
