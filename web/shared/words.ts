/**
 * The words of the interface. The source speaks English, and English is the key: `t("Ask for review")`. Other languages
 * are in `words/<language>.json`, with every text that the sources have; `words.test.ts` compares them.
 */
type Values = Record<string, string | number>;
type Catalogue = Record<string, string | Partial<Record<Intl.LDMLPluralRule, string>>>;

/** Those that there is a catalogue for, each by its own name. */
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

const catalogues = import.meta.glob<Catalogue>("./words/*.json", { import: "default" });
let catalogue: Catalogue = {};
export let language = "en";
let plurals = new Intl.PluralRules("en");

function wanted(): string {
  const asked = [localStorage.getItem(KEPT), ...navigator.languages];
  return asked.map((tag) => tag?.slice(0, 2) ?? "").find((tag) => tag in LANGUAGES) ?? "en";
}

/** Reads the catalogue of the language that this person wants; before anything is drawn. */
export async function loadWords(): Promise<void> {
  const found = wanted();
  const load = catalogues[`./words/${found}.json`];
  if (load) {
    catalogue = await load();
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

/** Signs that turn round what is written behind them; nobody's name may do that to our sentence. */
const TURNING = /[\u202a-\u202e]/g;

function fill(text: string, values: Values): string {
  return text.replace(
    /\{(\w+)\}/g,
    (place, name) => name in values ? String(values[name]).replace(TURNING, "") : place,
  );
}

/** A text of the interface; `{name}` stands for a value. */
export function t(text: string, values: Values = {}): string {
  const found = catalogue[text];
  return fill(typeof found === "string" ? found : text, values);
}

/** A text that counts: `n("{count} page", "{count} pages", 3)`. The key is the second, for many. */
export function n(one: string, many: string, count: number, values: Values = {}): string {
  const found = catalogue[many];
  const forms = typeof found === "object" ? found : { one, other: many };
  const text = forms[plurals.select(count)] ?? forms.other ?? many;
  return fill(text, { ...values, count: new Intl.NumberFormat(language).format(count) });
}
