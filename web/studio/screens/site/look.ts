/** How a site looks, as its settings are edited. */
import type { Schemas } from "../../../shared/client.ts";

type Filled<T, Optional extends keyof T = never> = Required<Omit<T, Optional>> & Pick<T, Optional>;

/** The whole of a customization. The API answers every setting, so those that have a default are there. */
export interface Look extends
  Omit<
    Filled<Schemas["Customization"], "announcement" | "title">,
    "styling" | "header" | "footer" | "pageActions"
  > {
  styling: Omit<Filled<Schemas["Styling"], "tint">, "sidebar"> & { sidebar: Required<Schemas["Sidebar"]> };
  header: Filled<Schemas["Header"], "logo" | "backgroundColor" | "linkColor">;
  footer: Filled<Schemas["Footer"], "logo" | "copyright">;
  pageActions: Required<Schemas["PageActions"]>;
}

export type Pair = Schemas["ThemedColor"];
export type LinkTo = Schemas["ContentLink"]["to"];

/** `#rgb` or `#rrggbb` as linear red, green and blue, each 0 to 1; undefined for what is no colour. */
function linear(hex: string): [number, number, number] | undefined {
  const found = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(hex.trim())?.[1];
  if (!found) return undefined;
  const digits = found.length === 3 ? [...found].map((one) => one + one).join("") : found;
  const part = (at: number) => {
    const value = parseInt(digits.slice(at, at + 2), 16) / 255;
    return value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
  };
  return [part(0), part(2), part(4)];
}

/** The contrast of two colours by WCAG 2, 1 to 21; undefined where one is no colour. */
export function contrast(one: string, other: string): number | undefined {
  const [a, b] = [linear(one), linear(other)].map((rgb) =>
    rgb && .2126 * rgb[0] + .7152 * rgb[1] + .0722 * rgb[2]
  );
  if (a === undefined || b === undefined) return undefined;
  return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
}

/** What text needs on its ground. */
export const READABLE = 4.5;
/** The page of a site, light and dark, where no tint changes it. */
export const PAGE: Pair = { light: "#ffffff", dark: "#111419" };

/** What a site space may have otherwise than its site, in whole or by its parts. */
const OVERRIDABLE = [
  "title",
  "styling",
  "internationalization",
  "favicon",
  "announcement",
  "header",
  "footer",
  "themes",
  "pdf",
  "feedback",
  "externalLinks",
  "pagination",
  "apiPlayground",
  "trademark",
  "privacyPolicy",
  "socialPreview",
] as const;
const AS_ONE = new Set(["title", "favicon", "announcement", "logo", "tint"]);
const SITE_ALONE = new Set(["font", "monospaceFont"]);

type Values = Record<string, unknown>;
const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !("light" in value);

function differences(from: Values, to: Values, names: Iterable<string>): Values {
  const found: Values = {};
  for (const name of names) {
    const [before, after] = [from[name], to[name]];
    if (SITE_ALONE.has(name) || JSON.stringify(before) === JSON.stringify(after)) continue;
    found[name] = !AS_ONE.has(name) && isValues(before) && isValues(after)
      ? differences(before, after, new Set([...Object.keys(before), ...Object.keys(after)]))
      : after ?? null;
  }
  return found;
}

/** What has to be overridden of one look so that it is the other; null takes an override back. */
export const overrideOf = (from: unknown, to: unknown): Schemas["Override"] =>
  differences(from as Values, to as Values, OVERRIDABLE) as Schemas["Override"];
