import { describe, expect, test } from "vitest";
import { CALL, type CatalogText, findWrongForms, formsOf, keysOf, placeholdersOf } from "./texts.ts";
import { LANGUAGES, n, t } from "./words.ts";

type Catalog = Record<string, CatalogText>;

const sources = import.meta.glob<string>([
  "../{shared,studio}/**/*.{ts,svelte}",
  "!../**/*.test.ts",
], {
  query: "?raw",
  import: "default",
  eager: true,
});
const raw = import.meta.glob<string>("./words/*.json", { query: "?raw", import: "default", eager: true });
const catalogs: Record<string, Catalog> = Object.fromEntries(
  Object.entries(raw).map((
    [path, text],
  ) => [path.slice("./words/".length, -".json".length), JSON.parse(text)]),
);
const { en: english, ...translations } = catalogs as { en: Catalog } & Record<string, Catalog>;
const labels = import.meta.glob<string>("../generated/{page-fields,customization}.ts", {
  query: "?raw",
  import: "default",
  eager: true,
});
const used = new Set(Object.values({ ...sources, ...labels }).flatMap(keysOf));

test("a right-to-left name does not reverse its sentence", () => {
  expect(t("movedTitle", { title: "\u202eend" })).toBe("Moved “end”");
});

test("a count has its plural form and thousands separators", () => {
  expect([n("pageCount", 1), n("pageCount", 2000)]).toEqual(["1 page", "2,000 pages"]);
});

test("every key of the sources has an English text, and every text is used", () => {
  expect(Object.keys(english).filter((key) => !used.has(key))).toEqual([]);
  expect([...used].filter((key) => !(key in english))).toEqual([]);
});

test("keys are literals where they are used", () => {
  const call = /(?<![\w.$\\])(?<!function )[tn]\((?!\s*["\])])[^)\n]*/g;
  const found = Object.entries(sources).flatMap(([path, source]) =>
    [...source.matchAll(call)].map(([text]) => `${path}: ${text}`)
  );
  expect(found).toEqual([]);
});

/** Return the text between the parentheses that open at a position of a source. */
function argumentsAt(source: string, start: number): string {
  let depth = 1;
  let end = start;
  for (; depth && end < source.length; end++) depth += { "(": 1, ")": -1 }[source[end]!] ?? 0;
  return source.slice(start, end);
}

test("a call gives a value for each placeholder of its text", () => {
  const lacking: string[] = [];
  for (const [path, source] of Object.entries(sources)) {
    for (const { 0: call, 1: name, 2: key, index } of source.matchAll(CALL)) {
      const given = argumentsAt(source, index + call.length);
      // Values that are created elsewhere aren't checked.
      if (name === "t" && /^,\s*[^{\s]/.test(given)) continue;
      for (const placeholder of placeholdersOf(formsOf(english[key!] ?? "").join(" "))) {
        const value = placeholder.slice(1, -1);
        if (name === "n" && value === "count") continue;
        if (!new RegExp(`\\b${value}\\b`).test(given)) lacking.push(`${path}: ${key}: ${placeholder}`);
      }
    }
  }
  expect(lacking).toEqual([]);
});

test("a translation with missing, unknown, or renamed placeholders is found", () => {
  expect(findWrongForms("{count} of {total}", "{total}: {count}")).toEqual([]);
  expect(findWrongForms("{count} of {total}", "{count}")).toEqual(["{count}"]);
  expect(findWrongForms("Moved {title}", "{titel} verschoben")).toEqual(["{titel} verschoben"]);
  const pages = { one: "1 page of {space}", other: "{count} pages of {space}" };
  expect(findWrongForms(pages, { one: "Eine Seite von {space}", other: "{count} Seiten von {space}" }))
    .toEqual([]);
  expect(findWrongForms(pages, { one: "Eine Seite", other: "{count} Seiten von {space}" })).toEqual([
    "Eine Seite",
  ]);
});

test("every available language has a catalog", () => {
  expect(new Set(Object.keys(catalogs))).toEqual(new Set(Object.keys(LANGUAGES)));
});

describe.each(Object.entries(translations))("%s", (language, catalog) => {
  test("has exactly the texts of English", () => {
    expect(Object.keys(english).filter((key) => !(key in catalog))).toEqual([]);
    expect(Object.keys(catalog).filter((key) => !(key in english))).toEqual([]);
  });

  test("has the placeholders of each text", () => {
    const wrong = Object.entries(catalog).filter(([key, text]) =>
      findWrongForms(english[key] ?? "", text).length
    );
    expect(wrong).toEqual([]);
  });

  test("has the plural forms of its language", () => {
    const wanted = new Set(["other", ...new Intl.PluralRules(language).resolvedOptions().pluralCategories]);
    for (const [key, text] of Object.entries(catalog)) {
      expect(typeof text, key).toBe(typeof english[key]);
      if (typeof text !== "string") {
        expect(text, key).toHaveProperty("other");
        expect([...wanted], key).toEqual(expect.arrayContaining(Object.keys(text)));
      }
    }
  });
});

test("German has one word for a space, and one for a site", () => {
  const texts = Object.values(translations.de ?? {}).flatMap(formsOf);
  expect(texts.filter((text) => /\b(Spaces?|Sites?)\b/.test(text))).toEqual([]);
});
