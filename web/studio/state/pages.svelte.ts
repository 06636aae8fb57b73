/** The pages of a space in its tree. */
import { ApiError, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { getChangeRequestById, getChangeRequestChanges } from "../api/changes.ts";
import { readPage } from "../api/content.ts";
import type { Base } from "../editor/base.ts";
import { baseKey, firstWay, PART, readLevel, readWay, type TreePage, type Way } from "./parts.ts";
import { type Resource, resource } from "./resource.svelte.ts";
import { router } from "./router.svelte.ts";

export type Mark = "edited" | "new" | "moved" | "deleted";

/** The loaded child pages of a page, with `undefined` for each page that isn't loaded. */
export interface Level {
  count: number;
  pages: readonly (TreePage | undefined)[];
  /** Indexes of the parts that may be outdated. */
  stale: ReadonlySet<number>;
}

/** The loaded parts of a tree: levels by parent page, with the top level under "". */
export interface Tree {
  levels: ReadonlyMap<string, Level>;
  /** The visible parts, as `at parent`, and the parts that are being loaded. */
  inView: Set<string>;
  asked: Map<string, Promise<void>>;
}

export const TOP = "";
/** The prefix of ids for pages that the server doesn't have yet. */
export const UNSENT = "~";
export const partOf = (parent: string, at: number) => `${at - at % PART} ${parent}`;

function readPart(part: string): { parent: string; at: number } {
  const blank = part.indexOf(" ");
  return { at: Number(part.slice(0, blank)), parent: part.slice(blank + 1) };
}

/** Return the tree of a space. Only parts of it are loaded: the path to the current page, and the visible rows.
 * After a change, visible parts are reloaded, and others are reloaded when they are shown next. */
export function treeOf(space: string, base: Base): Resource<Tree> {
  const found: Resource<Tree> = resource(`space/${space}/${baseKey(base)}/pages`, async () => {
    await undefined; // Everything loaded so far is available after this.
    return found.value ? await renew(space, base, found.value) : await begin(space, base);
  });
  return found;
}

async function begin(space: string, base: Base): Promise<Tree> {
  const { place } = router;
  const path = place.screen === "page" && place.space === space && baseKey(place.base) === baseKey(base)
    ? place.path
    : "";
  const empty: Tree = { levels: new Map(), inView: new Set(), asked: new Map() };
  try {
    return withWay(
      empty,
      path ? await readWay(space, base, { path }) : await firstWay(space, base).refresh(),
    );
  } catch (problem) {
    if (!(problem instanceof ApiError && problem.status === 404)) throw problem;
    return withPart(empty, TOP, 0, await readLevel(space, base, undefined));
  }
}

async function renew(space: string, base: Base, before: Tree): Promise<Tree> {
  const parts = before.inView.size ? [...before.inView] : [partOf(TOP, 0)];
  const answers = await Promise.all(parts.map(async (part) => {
    const { parent, at } = readPart(part);
    try {
      return { parent, at, found: await readLevel(space, base, parent || undefined, { at }) };
    } catch (problem) {
      // The parent page of the level was deleted.
      if (problem instanceof ApiError && problem.status === 404 && parent) return undefined;
      throw problem;
    }
  }));
  const loaded = (level: Level) => new Set([...level.pages.keys()].filter((at) => at % PART === 0));
  const levels = new Map([...before.levels].map(([parent, level]) => {
    // Pages shown before the server had them now exist under their real id.
    const pages = level.pages.map((one) => one?.id.startsWith(UNSENT) ? undefined : one);
    return [parent, { ...level, pages, stale: loaded(level) }];
  }));
  let tree: Tree = { ...before, levels };
  for (const one of answers) if (one) tree = withPart(tree, one.parent, one.at, one.found);
  return tree;
}

const withWay = (tree: Tree, way: Way): Tree =>
  way.levels.reduce((now, level) => withPart(now, level.parent ?? TOP, level.at, level), tree);

/** Return a tree with an updated part. Its pages are removed from their previous positions. */
function withPart(tree: Tree, parent: string, at: number, part: { count: number; items: TreePage[] }): Tree {
  const ids = new Set(part.items.map((one) => one.id));
  const levels = new Map(tree.levels);
  for (const [key, level] of levels) {
    if (!level.pages.some((one) => one && ids.has(one.id))) continue;
    levels.set(key, { ...level, pages: level.pages.map((one) => one && ids.has(one.id) ? undefined : one) });
  }
  const known = levels.get(parent);
  const pages: (TreePage | undefined)[] = Array.from(
    { length: part.count },
    (_, index) => known?.pages[index],
  );
  for (let index = at; index < Math.min(at + PART, part.count); index++) {
    pages[index] = part.items[index - at];
  }
  const stale = new Set(known?.stale);
  stale.delete(at);
  levels.set(parent, { count: part.count, pages, stale });
  return { ...tree, levels };
}

function isKnown({ levels }: Tree, part: string): boolean {
  const { parent, at } = readPart(part);
  const level = levels.get(parent);
  if (!level || level.stale.has(at)) return false;
  return level.pages.slice(at, at + PART).every((one) => one !== undefined);
}

export interface Found {
  page: TreePage;
  spot: Required<Spot>;
}
const places = new WeakMap<Tree, Map<string, Found>>();

/** Return a loaded page of a tree, and its position. */
export function findPage(tree: Tree | undefined, id: string): Found | undefined {
  if (!tree) return undefined;
  let found = places.get(tree);
  if (!found) {
    found = new Map();
    for (const [parent, { pages }] of tree.levels) {
      for (const [at, page] of pages.entries()) {
        if (page) found.set(page.id, { page, spot: { into: parent || null, at } });
      }
    }
    places.set(tree, found);
  }
  return found.get(id);
}

/** Return the ancestors of a page from the top; undefined if some aren't loaded. */
export function above(tree: Tree | undefined, id: string): TreePage[] | undefined {
  const way: TreePage[] = [];
  for (let found = findPage(tree, id);; found = findPage(tree, found.spot.into)) {
    if (!found) return undefined;
    if (found.page.id !== id) way.unshift(found.page);
    if (found.spot.into === null) return way;
  }
}

export const changeOf = (space: string, number: number | string) =>
  resource(
    `space/${space}/changes/${number}`,
    () => getChangeRequestById({ spaceId: space, changeRequestId: String(number) }),
  );

type Differences = Schemas["SemanticChanges"];
const FIRST = 200;

/** Load all changes, one page of the list after another. The first ones are shown while the others load. */
export function allChanges(
  key: string,
  load: (query: { limit: number; page?: string }) => Promise<Differences>,
): Resource<Differences> {
  const found: Resource<Differences> = resource(key, async () => {
    let all: Differences | undefined;
    for (let limit = FIRST;; limit = 1000) {
      const answer: Differences = await load({ limit, ...(all?.next ?? {}) });
      all = { ...answer, changes: [...all?.changes ?? [], ...answer.changes] };
      if (!all.next) return all;
      if (!found.value || found.value.next) found.value = all;
    }
  });
  return found;
}

export const changesOf = (space: string, number: number) =>
  allChanges(
    `space/${space}/changes/${number}/changes`,
    (query) => getChangeRequestChanges({ spaceId: space, changeRequestId: String(number) }, query),
  );

/** The position of a page among its siblings. Without `at`, it is the last one. */
export interface Spot {
  into: string | null;
  at?: number;
}

/** A space's tree, loaded in parts. */
export class PageTree {
  protected readonly resource: Resource<Tree>;

  constructor(readonly space: string, readonly base: Base) {
    this.resource = treeOf(space, base);
  }

  get tree(): Tree | undefined {
    return this.resource.value;
  }

  /** Load the visible parts that aren't loaded. */
  async show(parts: string[]): Promise<void> {
    const shown = this.tree?.inView;
    shown?.clear();
    for (const part of parts) shown?.add(part);
    await this.load(parts);
  }

  /** Load the given parts that aren't loaded. */
  async load(parts: string[]): Promise<void> {
    const { tree } = this;
    if (!tree) return;
    const { asked } = tree;
    await Promise.all(
      parts.filter((part) => !isKnown(tree, part)).map((part) => {
        const running = asked.get(part) ?? this.#loadPart(part).finally(() => asked.delete(part));
        asked.set(part, running);
        return running;
      }),
    );
  }

  async #loadPart(part: string): Promise<void> {
    const { parent, at } = readPart(part);
    const found = await readLevel(this.space, this.base, parent || undefined, { at });
    if (this.tree) this.resource.value = withPart(this.tree, parent, at, found);
  }

  /** Load the position of a page. */
  async reach(id: string): Promise<void> {
    const way = await readWay(this.space, this.base, { to: id });
    if (this.tree) this.resource.value = withWay(this.tree, way);
  }

  find(id: string): Found | undefined {
    return findPage(this.tree, id);
  }

  /** Return the number of child pages or, without a parent, of top-level pages; undefined if unknown. */
  count(parent: string | null): number | undefined {
    return this.tree?.levels.get(parent ?? TOP)?.count;
  }
}

/** Return a page as Markdown without its front matter. */
export async function readMarkdown(space: string, base: Base, page: string): Promise<string> {
  const how = { format: "markdown", pages: false } as const;
  const found = await readPage(space, base, page, how) as { markdown?: string };
  if (found.markdown === undefined) throw new ApiError(0, t("thisPageHasNoText"));
  return found.markdown;
}
