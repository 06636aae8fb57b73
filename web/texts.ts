import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { CALL, type CatalogText, findWrongForms } from "./shared/texts.ts";

const WORDS = fileURLToPath(new URL("./shared/words/", import.meta.url));

/**
 * Replace each key of an interface text with its English text and its index in the catalogs, which become plain
 * lists. As a result, every screen contains its own English texts, no catalog is loaded for English, and keys are
 * never sent. A translation with missing or unknown placeholders fails the build.
 */
export function texts(): Plugin {
  const english: Record<string, CatalogText> = JSON.parse(readFileSync(`${WORDS}en.json`, "utf8"));
  const keys = Object.keys(english);
  const places = new Map(keys.map((key, at) => [key, at]));
  return {
    name: "octavo-texts",
    enforce: "pre",
    transform(code, id) {
      if (id.startsWith(WORDS) && id.endsWith(".json")) {
        const catalog: Record<string, CatalogText> = JSON.parse(code);
        for (const [key, text] of Object.entries(catalog)) {
          const wrong = findWrongForms(english[key] ?? "", text);
          if (wrong.length) this.error(`${key}: the placeholders differ from English: ${wrong.join(" | ")}`);
        }
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
