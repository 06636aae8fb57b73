/**
 * Finds the calls of `t` and `n` in a source. A key is a plain string where it is used, so that the build and the
 * tests can find it.
 */
export const CALL = /(?<![\w.$\\])([tn])\(\s*"(\w+)"/g;

/** Return the keys that a source uses. */
export const keysOf = (source: string): string[] => [...source.matchAll(CALL)].map(([, , key]) => key!);

/** Return the placeholders of a text in order of name: `{count} of {total}` has `{count}` and `{total}`. */
export const placeholdersOf = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{\w+\}/g)].map(([found]) => found))].sort();
