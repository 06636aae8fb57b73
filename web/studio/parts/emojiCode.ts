/** Emoji of spaces. The API represents them as hexadecimal code points joined by hyphens. */
/** The server's value for a space without an emoji. */
export const PLAIN = "1f4d8";

export const signOf = (code: string | undefined): string => code && code !== PLAIN ? emojiOf(code) : "";

/** Return the emoji for these code points; empty for anything else. */
export const emojiOf = (code: string | undefined): string =>
  code && /^[0-9a-f-]+$/i.test(code)
    ? String.fromCodePoint(...code.split("-").map((point) => parseInt(point, 16)))
    : "";

export const codeOf = (sign: string): string =>
  [...sign].map((point) => point.codePointAt(0)!.toString(16)).join("-");
