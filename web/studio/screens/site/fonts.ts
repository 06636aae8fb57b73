/** Files of fonts. */

/** What files of a weight are called; those that are part of another one stand before it. */
const NAMES: [RegExp, number][] = [
  [/thin|hairline/, 100],
  [/(extra|ultra)[-_ ]?light/, 200],
  [/(semi|demi)[-_ ]?bold/, 600],
  [/(extra|ultra)[-_ ]?bold/, 800],
  [/light/, 300],
  [/medium/, 500],
  [/bold/, 700],
  [/black|heavy/, 900],
];

/** The weight that the name of a file says, 400 where it says none. */
export function weightOf(file: string): number {
  const name = file.toLowerCase();
  const number = /(?:^|[^0-9])([1-9]00)(?:[^0-9]|$)/.exec(name)?.[1];
  return number ? Number(number) : NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? 400;
}
