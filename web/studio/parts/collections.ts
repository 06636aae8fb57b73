/** Collections as options of a field. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";

type Collection = Schemas["Collection"];
const byRank = (one: { rank: string }, other: { rank: string }) =>
  one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : 0;

/** Return collections for fields. Each is under its parent, with the top level first. `without`: a collection to
 * omit, with its content. */
export function collectionOptions(collections: Collection[], without?: string): [string, string][] {
  const known = new Set(collections.map((one) => one.id));
  const found: [string, string][] = [["", t("noCollectionTopLevel")]];
  const walk = (parent: string | undefined, depth: number) => {
    const inside = collections.filter((one) =>
      (one.parent && known.has(one.parent) ? one.parent : undefined) === parent
    ).sort(byRank);
    for (const one of inside) {
      if (one.id === without) continue;
      found.push([one.id, `${"\u2003".repeat(depth)}${one.title}`]);
      walk(one.id, depth + 1);
    }
  };
  walk(undefined, 0);
  return found;
}

interface Content {
  kind: "space" | "collection";
  id: string;
  title: string;
  rank: string;
  emoji?: string;
}

/** Return the spaces and collections directly in a collection, in their manual order. */
export function contentsOf(
  collection: string,
  collections: Collection[],
  spaces: Schemas["Space"][],
): Content[] {
  return [
    ...collections.filter((one) => one.parent === collection).map((one): Content => ({
      kind: "collection",
      id: one.id,
      title: one.title,
      rank: one.rank,
    })),
    ...spaces.filter((one) => one.parent === collection).map((one): Content => ({
      kind: "space",
      id: one.id,
      title: one.title,
      rank: one.rank,
      emoji: one.emoji,
    })),
  ].sort(byRank);
}
