/** The languages of content, by their names in the interface language. */
import { language, t } from "../../shared/words.ts";

const TAGS =
  "en fr de es it pt pt-br ru ja zh zh-tw yue ko ar hi nl pl tr sv no da fi el cs hu ro th vi id ms he uk sk bg hr lt lv et sl"
    .split(" ");

/** Return the name of a language, or its tag if it isn't a language. */
export function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames(language, { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** Return languages for fields: tag and name, sorted by name. The first option means no language. */
export function languageOptions(): [string, string][] {
  const named = TAGS.map((tag): [string, string] => [tag, languageName(tag)]);
  return [["", t("notSpecified")], ...named.sort(([, one], [, other]) => one.localeCompare(other, language))];
}
