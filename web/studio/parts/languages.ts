/** The languages that content can be in, by their names in the language of the interface. */
import { language, t } from "../../shared/words.ts";

const TAGS =
  "en fr de es it pt pt-br ru ja zh yue ko ar hi nl pl tr sv no da fi el cs hu ro th vi id ms he uk sk bg hr lt lv et sl"
    .split(" ");

/** For fields: tag and name, sorted by name; the first one is for no language. */
export function languageOptions(): [string, string][] {
  const names = new Intl.DisplayNames(language, { type: "language" });
  const named = TAGS.map((tag): [string, string] => [tag, names.of(tag) ?? tag]);
  return [["", t("Not said")], ...named.sort(([, one], [, other]) => one.localeCompare(other, language))];
}
