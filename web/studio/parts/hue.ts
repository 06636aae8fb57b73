const HUES = ["green", "blue", "orange", "purple", "red", "yellow"] as const;

/** Return the class with the hue for the ID of a person, a space, or an integration. It is always the same for the
 * same ID. */
export function hueOf(id: string): string {
  return hues(id)[0]!;
}

/** Return the class with the first hue for an ID that isn't used by others. If all are used, return the same class
 * as `hueOf`. */
export function freeHueOf(id: string, taken: ReadonlySet<string>): string {
  return hues(id).find((hue) => !taken.has(hue)) ?? hueOf(id);
}

/** Return the classes of all hues, in the order of preference for an ID. */
function hues(id: string): string[] {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) >>> 0;
  return HUES.map((_, at) => `hue-${HUES[(sum + at) % HUES.length]}`);
}

/** Return up to two initials of a name: `Ines Okafor` is `IO`. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]?.slice(0, 2)];
  return letters.map((word, at) => [...word ?? ""].slice(0, words.length > 1 || at ? 1 : 2).join("")).join("")
    .toUpperCase();
}
