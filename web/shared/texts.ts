/**
 * Finds calls of `t` and `n` in a source. A key is written as a plain string where it is used, so that the build
 * and the tests can find it.
 */
export const CALL = /(?<![\w.$\\])([tn])\(\s*"(\w+)"/g;

/** Return the keys that a source uses. */
export const keysOf = (source: string): string[] => [...source.matchAll(CALL)].map(([, , key]) => key!);

/** Return the placeholders of a text, sorted by name: `{count} of {total}` has `{count}` and `{total}`. */
export const placeholdersOf = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{\w+\}/g)].map(([found]) => found))].sort();

/** A text in a catalog: one text, or one for each plural form. */
export type CatalogText = string | Record<string, string>;

/** Return the forms of a text. */
export const formsOf = (text: CatalogText): string[] =>
  typeof text === "string" ? [text] : Object.values(text);

/**
 * Return the forms of a translation whose placeholders differ from those of the English text. A plural form can
 * omit the number, for example the form for one thing.
 */
export function findWrongForms(english: CatalogText, translation: CatalogText): string[] {
  const wanted = placeholdersOf(formsOf(english).join(" "));
  const optional = typeof translation === "string" ? [] : wanted.filter((each) => each === "{count}");
  return formsOf(translation).filter((form) => {
    const found = new Set([...placeholdersOf(form), ...optional]);
    return found.size !== wanted.length || wanted.some((each) => !found.has(each));
  });
}
