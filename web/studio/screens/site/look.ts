/** The customization of a site, in the form in which its settings are edited. */
import { OVERRIDABLE, type Parts, SETTINGS } from "../../../generated/customization.ts";
import type { Schemas } from "../../../shared/client.ts";

type Filled<T, Optional extends keyof T = never> = Required<Omit<T, Optional>> & Pick<T, Optional>;

/** A full customization. The API returns every setting, so defaults are included. */
export interface Look
  extends Filled<Schemas["Customization"], "announcement" | "title" | "localizedTitle" | "updatedAt"> {
  styling: Filled<Schemas["Styling"], "tint" | "headingFont">;
  header: Filled<Schemas["Header"], "logo" | "primaryLink" | "backgroundColor" | "linkColor">;
  footer: Filled<Schemas["Footer"], "logo" | "copyright">;
}

export type Pair = Schemas["ThemedColor"];
export type LinkTo = Schemas["ContentLink"]["to"];

/** Return `#rgb` or `#rrggbb` as linear red, green, and blue values from 0 to 1; undefined if the text isn't a
 * color. */
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

/** Return the contrast of two colors by WCAG 2, from 1 to 21; undefined if one isn't a color. */
export function contrast(one: string, other: string): number | undefined {
  const [a, b] = [linear(one), linear(other)].map((rgb) =>
    rgb && .2126 * rgb[0] + .7152 * rgb[1] + .0722 * rgb[2]
  );
  if (a === undefined || b === undefined) return undefined;
  return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
}

/** The minimum contrast for text. */
export const READABLE = 4.5;
/** The page background of a site, light and dark, without a tint. */
export const PAGE: Pair = { light: "#ffffff", dark: "#111419" };

type Values = Record<string, unknown>;

/** Return the group of a setting, and the setting's name in the group. */
function placeOf(look: Look, path: string): [Values, string] {
  const names = path.split(".");
  const name = names.pop()!;
  return [names.reduce((group, each) => group[each] as Values, look as unknown as Values), name];
}

export function valueAt(look: Look, path: string): unknown {
  const [group, name] = placeOf(look, path);
  return group[name];
}

/** Set a setting. Settings that become available get their initial values. */
export function setAt(look: Look, path: string, value: unknown): void {
  const [group, name] = placeOf(look, path);
  group[name] = value;
  for (const { path: other, only, initial } of SETTINGS) {
    if (only?.[0] === path && only[1] === value && valueAt(look, other) === undefined) {
      setAt(look, other, structuredClone(initial));
    }
  }
}

function differences(from: Values, to: Values, parts: Parts): Values {
  const found: Values = {};
  for (const [name, inside] of Object.entries(parts)) {
    const [before, after] = [from[name], to[name]];
    if (JSON.stringify(before) === JSON.stringify(after)) continue;
    found[name] = inside ? differences(before as Values, after as Values, inside) : after ?? null;
  }
  return found;
}

/** Return the overrides that turn one customization into another. A value of null removes an override. */
export const overrideOf = (from: unknown, to: unknown): Schemas["Override"] =>
  differences(from as Values, to as Values, OVERRIDABLE) as Schemas["Override"];
