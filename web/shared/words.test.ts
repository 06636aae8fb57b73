import { describe, expect, test } from "vitest";
import { textsOf } from "./texts.ts";
import { LANGUAGES, t } from "./words.ts";

const sources = import.meta.glob<string>([
  "../**/*.{ts,svelte}",
  "!../**/*.test.ts",
  "!../generated/**",
  "!../node_modules/**",
], {
  query: "?raw",
  import: "default",
  eager: true,
});
const catalogues = import.meta.glob<Record<string, string | Record<string, string>>>("./words/*.json", {
  import: "default",
  eager: true,
});
const labels = import.meta.glob<string>("../generated/page-fields.ts", {
  query: "?raw",
  import: "default",
  eager: true,
});
const found = Object.values({ ...sources, ...labels }).map(textsOf);
const texts = new Set(found.flatMap((one) => one.texts));
const counted = new Set(found.flatMap((one) => one.counted));
const places = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();

test("a name does not turn round the sentence that it is in", () => {
  expect(t("Moved “{title}”", { title: "\u202eend" })).toBe("Moved “end”");
});

test("there are texts", () => {
  expect(texts.size).toBeGreaterThan(200);
  expect(counted.size).toBeGreaterThan(5);
});

test("every language that can be chosen has its catalogue", () => {
  const names = Object.keys(catalogues).map((path) => path.slice("./words/".length, -".json".length));
  expect(new Set(["en", ...names])).toEqual(new Set(Object.keys(LANGUAGES)));
});

describe.each(Object.entries(catalogues))("%s", (_, catalogue) => {
  test("has every text, and no other", () => {
    expect(new Set(Object.keys(catalogue))).toEqual(new Set([...texts, ...counted]));
  });

  test("has the places of each text", () => {
    for (const [text, said] of Object.entries(catalogue)) {
      if (typeof said === "string") expect(places(said), text).toEqual(places(text));
      else {for (const form of Object.values(said)) {
          expect(places(text), text).toEqual(expect.arrayContaining(places(form)));
        }}
    }
  });

  test("has the forms that its counting needs", () => {
    for (const text of counted) expect(Object.keys(catalogue[text] as object), text).toContain("other");
  });
});

test("German has one word for a space, and one for a site", () => {
  const said = Object.values(catalogues["./words/de.json"] ?? {}).flatMap((one) =>
    typeof one === "string" ? [one] : Object.values(one)
  );
  expect(said.filter((text) => /\b(Spaces?|Sites?)\b/.test(text))).toEqual([]);
});
