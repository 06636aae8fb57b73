/** The texts of the interface in a source: all that is given to `t` and `n`. A text is written where it is used, as one
 * string, so that this finds it. */
const STRING = String.raw`"((?:[^"\\]|\\.)*)"`;
const SINGLE = new RegExp(String.raw`\bt\(\s*${STRING}`, "g");
const COUNTED = new RegExp(String.raw`\bn\(\s*${STRING},\s*${STRING}`, "g");

const unescape = (written: string): string => JSON.parse(`"${written}"`);

export function textsOf(source: string): { texts: string[]; counted: string[] } {
  return {
    texts: [...source.matchAll(SINGLE)].map(([, text]) => unescape(text!)),
    counted: [...source.matchAll(COUNTED)].map(([, , many]) => unescape(many!)),
  };
}
