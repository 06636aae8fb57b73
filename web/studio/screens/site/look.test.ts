import { expect, test } from "vitest";
import { weightOf } from "./fonts.ts";
import { contrast, type Look, overrideOf, setAt, valueAt } from "./look.ts";

test("contrast is that of WCAG 2", () => {
  expect(contrast("#000", "#ffffff")).toBeCloseTo(21, 5);
  expect(contrast("#fff", "#FFFFFF")).toBe(1);
  expect(contrast("#767676", "#fff")).toBeCloseTo(4.54, 2);
  expect(contrast("red", "#fff")).toBeUndefined();
  expect(contrast("#12345", "#fff")).toBeUndefined();
});

test("a site space overrides differing settings, field by field", () => {
  const site = {
    title: "Docs",
    styling: { theme: "clean", tint: { color: "red" }, primaryColor: { light: "#111111", dark: "#eeeeee" } },
    header: { preset: "default", links: [] as unknown[] },
    ai: { mode: "none" },
  };
  expect(overrideOf(site, site)).toEqual({});
  const own = {
    styling: { theme: "bold", primaryColor: { light: "#222222", dark: "#eeeeee" }, font: "Inter" },
    header: { preset: "default", links: [{ title: "Home" }] },
    ai: { mode: "search" },
  };
  expect(overrideOf(site, own)).toEqual({
    title: null,
    styling: { theme: "bold", tint: null, primaryColor: { light: "#222222", dark: "#eeeeee" } },
    header: { links: [{ title: "Home" }] },
  });
});

test("a site space overrides a value without nested settings as a whole", () => {
  const theme = { light: "default-light", dark: "default-dark" };
  const site = { styling: { codeTheme: { default: theme, openapi: theme } }, favicon: { emoji: "1f4d8" } };
  const own = { ...site.styling.codeTheme, openapi: { light: "nord", dark: "nord" } };
  expect(overrideOf(site, { styling: { codeTheme: own }, favicon: {} })).toEqual({
    styling: { codeTheme: own },
    favicon: {},
  });
});

test("a setting starts with its current value when it is shown", () => {
  const look = { header: { preset: "default", links: [] } } as unknown as Look;
  setAt(look, "header.preset", "custom");
  expect(valueAt(look, "header.backgroundColor")).toEqual({ light: "#ffffff", dark: "#111419" });
  setAt(look, "header.backgroundColor", { light: "#eeeeee", dark: "#222222" });
  setAt(look, "header.preset", "default");
  setAt(look, "header.preset", "custom");
  expect(valueAt(look, "header.backgroundColor")).toEqual({ light: "#eeeeee", dark: "#222222" });
});

test("the weight of a font is recognized in its file name", () => {
  const found = [
    "Acme-Regular.woff2",
    "Acme-SemiBold.woff2",
    "acme_extralight.woff",
    "Acme-300.woff2",
    "A-Black.woff",
  ];
  expect(found.map(weightOf)).toEqual([400, 600, 200, 300, 900]);
});
