/** Collections as a choice. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";

type Collection = Schemas["Collection"];
const byRank = (one: { rank: string }, other: { rank: string }) =>
  one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : 0;

/** For fields: each collection below the one that it lies in, the top first. `without`: not this one, nor what lies in it. */
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

/** The spaces and collections that lie directly in a collection, in the order that people gave. */
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
