/** Parts of a space's tree in the format of the API: one level, and paths to pages. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import type { Base } from "../editor/base.ts";
import { type Resource, resource } from "./resource.svelte.ts";

export type TreePage = Schemas["PageEntry"];
export type Way = Schemas["PageWay"];

/** The number of pages of a level that are loaded at a time. */
export const PART = 100;
const MOST = 1000;
const WAYS = 100;

const PARTS = {
  children: {
    main: "/spaces/{spaceId}/content/children",
    change: "/spaces/{spaceId}/change-requests/{changeRequestId}/content/children",
    revision: "/spaces/{spaceId}/revisions/{revisionId}/children",
  },
  way: {
    main: "/spaces/{spaceId}/content/way",
    change: "/spaces/{spaceId}/change-requests/{changeRequestId}/content/way",
    revision: "/spaces/{spaceId}/revisions/{revisionId}/way",
  },
  ways: {
    main: "/spaces/{spaceId}/content/ways",
    change: "/spaces/{spaceId}/change-requests/{changeRequestId}/content/ways",
    revision: "/spaces/{spaceId}/revisions/{revisionId}/ways",
  },
} as const;

export const baseKey = (base: Base) =>
  base.kind === "main" ? "main" : base.kind === "change" ? `changes/${base.number}` : `revisions/${base.id}`;

function read<T>(space: string, base: Base, part: keyof typeof PARTS, query: object): Promise<T> {
  const where = PARTS[part][base.kind];
  const path = {
    spaceId: space,
    ...(base.kind === "change" ? { changeRequestId: String(base.number) } : {}),
    ...(base.kind === "revision" ? { revisionId: base.id } : {}),
  };
  return ask(api.GET(where as typeof PARTS.way.main, { params: { path, query } })) as Promise<T>;
}

/** Load pages of a level, starting at an index. Without a `parent`, load the top level. */
export const readLevel = (
  space: string,
  base: Base,
  parent: string | undefined,
  query: { at?: number; limit?: number; page?: string } = {},
) =>
  read<Schemas["PageEntryList"]>(space, base, "children", {
    limit: PART,
    ...query,
    ...(parent ? { parent } : {}),
  });

/** Load the path to a page or, without a page, to the first page that has text. */
export const readWay = (space: string, base: Base, to: { to?: string; path?: string } = {}) =>
  read<Way>(space, base, "way", { ...to, limit: PART });

/** Load the path to the first page of a space. */
export const firstWay = (space: string, base: Base): Resource<Way> =>
  resource(`space/${space}/${baseKey(base)}/pages/first`, () => readWay(space, base));

/** Load all pages under a page, or of the whole space, level by level. `onfound`: called with the number of pages
 * found so far. */
export async function everyPage(
  space: string,
  base: Base,
  below?: string,
  options: { signal?: AbortSignal; onfound?: (count: number) => void } = {},
): Promise<TreePage[]> {
  const found: TreePage[] = [];
  const left: (string | undefined)[] = [below];
  while (left.length && !options.signal?.aborted) {
    const parent = left.shift();
    for (let page: string | undefined, more = true; more && !options.signal?.aborted;) {
      const part = await readLevel(space, base, parent, { limit: MOST, ...(page ? { page } : {}) });
      found.push(...part.items);
      left.push(...part.items.filter((one) => one.hasPages).map((one) => one.id));
      options.onfound?.(found.length);
      page = part.next?.page;
      more = page !== undefined;
    }
  }
  return found;
}

interface Ways {
  resource: Resource<ReadonlyMap<string, TreePage[]>>;
  /** The pages whose paths have been requested since the last request was sent. */
  read: Set<string>;
  asks: boolean;
}
const waysOf = new WeakMap<Resource<ReadonlyMap<string, TreePage[]>>, Ways>();

/** Return the path from the top to a page, which is last in it; empty if the page doesn't exist, undefined while
 * unknown. The paths that a screen reads are loaded together. */
export function wayTo(space: string, base: Base, page: string): TreePage[] | undefined {
  let ways: Ways | undefined;
  const key = `space/${space}/${baseKey(base)}/pages/ways`;
  const found: Ways["resource"] = resource(key, async () => {
    await undefined; // Wait, so that paths read at the same time share a request.
    const asked = [...ways?.read.size ? ways.read : found.value?.keys() ?? []];
    ways?.read.clear();
    const parts = [];
    for (let at = 0; at < asked.length; at += WAYS) {
      parts.push(read<Schemas["PageTraces"]>(space, base, "ways", { pages: asked.slice(at, at + WAYS) }));
    }
    const there = new Map(
      (await Promise.all(parts)).flatMap(({ items }) => items.map((one) => [one.page, one.way])),
    );
    return new Map(asked.map((id) => [id, there.get(id) ?? []]));
  });
  ways = waysOf.get(found);
  if (!ways) waysOf.set(found, ways = { resource: found, read: new Set(), asks: false });
  const own = ways;
  own.read.add(page);
  const known = found.value?.get(page);
  if (known === undefined && !own.asks) {
    own.asks = true;
    queueMicrotask(() => {
      own.asks = false;
      const unknown = [...own.read].some((id) => !found.value?.has(id));
      if (unknown) found.refresh({ force: true }).catch(() => {});
    });
  }
  return known;
}
