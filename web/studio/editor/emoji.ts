/** Emoji by name, loaded when someone types the first one. */
/** The emoji, its name, and alternative names. */
let known: string[][] = [];
let asked: Promise<void> | undefined;

export function loadEmoji(): Promise<void> {
  asked ??= import("../../generated/emoji.json", { with: { type: "json" } }).then((found) => {
    known = found.default as string[][];
  });
  return asked;
}

export function emojiNamed(name: string): string | undefined {
  return known.find(([, ...names]) => names.includes(name))?.[0];
}

/** Return the emoji whose names contain the words. Names that start with them come first. */
export function findEmoji(words: string, most: number): { sign: string; name: string }[] {
  const wanted = words.toLowerCase().replaceAll(" ", "_");
  const rank = (
    name: string,
  ): number => (name === wanted
    ? 0
    : name.startsWith(wanted)
    ? 1
    : name.includes(`_${wanted}`)
    ? 2
    : name.includes(wanted)
    ? 3
    : 4);
  return known.map(([sign, ...names]) => {
    const best = names.reduce((one, other) => rank(other) < rank(one) ? other : one);
    return { sign: sign!, name: best, rank: rank(best) };
  }).filter((each) => each.rank < 4)
    .sort((one, other) => one.rank - other.rank || one.name.length - other.name.length).slice(0, most);
}
