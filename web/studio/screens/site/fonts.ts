/** Reads the weights of fonts from file names. */

/** Names of weights in file names. A name that is part of another comes after it. */
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

/** Return the weight from a file name, or 400 if it contains none. */
export function weightOf(file: string): number {
  const name = file.toLowerCase();
  const number = /(?:^|[^0-9])([1-9]00)(?:[^0-9]|$)/.exec(name)?.[1];
  return number ? Number(number) : NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? 400;
}
