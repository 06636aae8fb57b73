/**
 * The texts of the interface, by key: `t("requestReview")`. The English texts are in `words/en.json`, which also
 * defines the types of the keys; other languages are in `words/<language>.json`. The build replaces the keys with
 * the English texts (`../texts.ts`).
 */
import type english from "./words/en.json";

type Values = Record<string, string | number>;
type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };
type English = typeof english;
/** The key of a plain text. */
export type TextKey = { [Key in keyof English]: English[Key] extends string ? Key : never }[keyof English];
/** The key of a text with plural forms. */
export type PluralKey = Exclude<keyof English, TextKey>;
/** The value with which the build replaces a key. */
type Built<Text> = [place: number, english: Text];

/** The languages of the interface, each by its own name. */
export const LANGUAGES: Record<string, string> = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  pt: "Português",
  it: "Italiano",
  nl: "Nederlands",
  ja: "日本語",
  zh: "简体中文",
  ar: "العربية",
};
const RIGHT_TO_LEFT = ["ar"];
const KEPT = "octavo-language";

/** Texts by position; null where a translation is missing. */
type Catalog = (string | Forms | null)[];
const catalogs = import.meta.glob<Catalog>(["./words/*.json", "!./words/en.json"], { import: "default" });
let catalog: Catalog = [];
export let language = "en";
let plurals = new Intl.PluralRules("en");

function wanted(): string {
  const asked = [localStorage.getItem(KEPT), ...navigator.languages];
  return asked.map((tag) => tag?.slice(0, 2) ?? "").find((tag) => tag in LANGUAGES) ?? "en";
}

/** Load the catalog of the person's language before anything is rendered. */
export async function loadWords(): Promise<void> {
  const found = wanted();
  const load = catalogs[`./words/${found}.json`];
  if (load) {
    catalog = await load();
    language = found;
    plurals = new Intl.PluralRules(found);
  }
  document.documentElement.lang = language;
  document.documentElement.dir = RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
}

export function chooseLanguage(tag: string): void {
  localStorage.setItem(KEPT, tag);
  location.reload();
}

/** Characters that change the direction of the text after them. They are removed, so that a person's name can't
 * rearrange the sentence. */
const TURNING = /[\u202a-\u202e]/g;

function fill(text: string, values: Values): string {
  return text.replace(
    /\{(\w+)\}/g,
    (place, name) => name in values ? String(values[name]).replace(TURNING, "") : place,
  );
}

/** Return names as a list in the language of the interface. */
export const formatNames = (names: string[]): string =>
  new Intl.ListFormat(language, { style: "short", type: "unit" }).format(names);

/** Return a number formatted for the language of the interface. */
export const formatNumber = (value: number, options?: Intl.NumberFormatOptions): string =>
  new Intl.NumberFormat(language, options).format(value);

/** Return a text of the interface. `{name}` is replaced by a value. */
export function t(key: TextKey, values: Values = {}): string {
  const [place, english] = key as unknown as Built<string>;
  return fill((catalog[place] as string | null | undefined) ?? english, values);
}

/** Return a text in the plural form of a count: `n("pageCount", 3)` is "3 pages". `{count}` is the count. */
export function n(key: PluralKey, count: number, values: Values = {}): string {
  const [place, english] = key as unknown as Built<Forms>;
  const forms = (catalog[place] as Forms | null | undefined) ?? english;
  return fill(forms[plurals.select(count)] ?? forms.other, { ...values, count: formatNumber(count) });
}
