const HUES = ["green", "blue", "orange", "purple", "red", "yellow"] as const;

/** The hue of a person or a space, always the same for one id. */
export function hueOf(id: string): (typeof HUES)[number] {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) >>> 0;
  return HUES[sum % HUES.length] ?? "blue";
}

/** Up to two letters for a name: `Ines Okafor` is `IO`. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]?.slice(0, 2)];
  return letters.map((word, at) => [...word ?? ""].slice(0, words.length > 1 || at ? 1 : 2).join("")).join("")
    .toUpperCase();
}
