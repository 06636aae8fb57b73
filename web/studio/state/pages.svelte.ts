/** The pages of a space in its tree, and the actions there. */
import { ApiError, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address, MAIN } from "../addresses.ts";
import { getChangeRequestById, getChangeRequestChanges } from "../api/changes.ts";
import { readPage } from "../api/content.ts";
import type { Base } from "../editor/base.ts";
import { changeContent, type Changes } from "./changing.ts";
import { beginDraft, findDraft } from "./drafts.ts";
import { readBytes } from "./fileInput.ts";
import { notices } from "./notices.svelte.ts";
import type { Page } from "./page.svelte.ts";
import { baseKey, everyPage, firstWay, PART, readLevel, readWay, type TreePage, type Way } from "./parts.ts";
import { outdate, refresh, type Resource, resource } from "./resource.svelte.ts";
import { router } from "./router.svelte.ts";
import { spaceOf } from "./session.svelte.ts";

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
/** The prefix of IDs for pages that the server doesn't have yet. */
const UNSENT = "~";
let unsent = 0;
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

/** Return a tree with another level under a page, if the page is loaded. */
function withLevel(
  tree: Tree,
  parent: string | null,
  pages: (known: Level["pages"]) => Level["pages"],
): Tree {
  const levels = new Map(tree.levels);
  const level = levels.get(parent ?? TOP);
  if (level) {
    const now = pages(level.pages);
    levels.set(parent ?? TOP, { ...level, pages: now, count: now.length });
  }
  return { ...tree, levels };
}

function without(tree: Tree, id: string): Tree {
  const found = findPage(tree, id);
  return found ? withLevel(tree, found.spot.into, (pages) => pages.toSpliced(found.spot.at, 1)) : tree;
}

function withPage(tree: Tree, added: TreePage, { into, at }: Spot): Tree {
  const above = into === null ? tree : changed(tree, into, (page) => ({ ...page, hasPages: true }));
  return withLevel(above, into, (pages) => pages.toSpliced(at ?? pages.length, 0, added));
}

function changed(tree: Tree, id: string, change: (page: TreePage) => TreePage): Tree {
  const found = findPage(tree, id);
  if (!found) return tree;
  return withLevel(tree, found.spot.into, (pages) => pages.with(found.spot.at, change(found.page)));
}

const newPage = (type: "document" | "group", title: string): TreePage => ({
  id: UNSENT + unsent++,
  type,
  title,
  hasPages: false,
  hidden: false,
});

/** Return the state that is edited: the current one, or the person's draft, which is created if needed. */
export async function editableBase(space: string, base: Base, subject: string): Promise<Base> {
  if (base.kind === "change") return base;
  const draft = await findDraft(space);
  return draft ? { kind: "change", number: draft.number } : await beginDraft(space, subject);
}

/** Fields of a page in the format of an edit. */
export type PageFields = Omit<Schemas["UpdatePage"], "operation" | "page">;
type Work = [
  guess: (tree: Tree) => Tree,
  changes: Changes,
  said: string,
  undo?: (editor: TreeEditor) => Promise<unknown>,
];

/** Changes a space's tree. Each change is shown immediately, then sent, and can be undone. */
export class TreeEditor {
  readonly #resource: Resource<Tree>;

  constructor(readonly space: string, readonly base: Base) {
    this.#resource = treeOf(space, base);
  }

  get tree(): Tree | undefined {
    return this.#resource.value;
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
    if (this.tree) this.#resource.value = withPart(this.tree, parent, at, found);
  }

  /** Load the position of a page. */
  async reach(id: string): Promise<void> {
    const way = await readWay(this.space, this.base, { to: id });
    if (this.tree) this.#resource.value = withWay(this.tree, way);
  }

  /** Send changes to the state that can be edited. Returns the state, the results, and the new files. */
  async #send(
    changes: Changes,
    subject: string,
  ): Promise<{ base: Base; made: Schemas["PageResult"][]; files: Schemas["File"][] }> {
    const space = await spaceOf(this.space).refresh();
    const direct = this.base.kind === "main" && space.editMode === "live";
    const base = direct ? MAIN : await editableBase(this.space, this.base, subject);
    const { changes: made, insertedFiles: files = [] } = await changeContent(this.space, base, { changes });
    refresh(`space/${this.space}/${baseKey(base)}`);
    if (base.kind === "main") outdate("favorites");
    return { base, made, files };
  }

  /** Run `#try`, and show errors. */
  #do(...work: Work): Promise<Schemas["PageResult"][]> {
    return this.#try(...work).catch((problem) => {
      notices.fail(problem);
      throw problem;
    });
  }

  /** Show the expected result, send the changes, confirm, and offer to undo. Opens the draft if it was created or
   * continued. */
  async #try(...[guess, changes, said, undo]: Work): Promise<Schemas["PageResult"][]> {
    const stays = this.base.kind === "change" || spaceOf(this.space).value?.editMode === "live";
    const takeBack = stays ? this.#resource.guess(guess) : () => {};
    try {
      const { base, made } = await this.#send(changes, said);
      const there = new TreeEditor(this.space, base);
      if (baseKey(base) !== baseKey(this.base)) this.#follow(base);
      notices.say(said, undo ? { undo: () => undo(there) } : {});
      return made;
    } catch (problem) {
      takeBack();
      throw problem;
    }
  }

  #follow(base: Base): void {
    const { place } = router;
    if (place.screen === "page" && place.space === this.space) {
      router.go(address.page(this.space, place.path, base), { replace: true });
    }
  }

  find(id: string): Found | undefined {
    return findPage(this.tree, id);
  }

  /** Return the number of child pages or, without a parent, of top-level pages; undefined if unknown. */
  count(parent: string | null): number | undefined {
    return this.tree?.levels.get(parent ?? TOP)?.count;
  }

  async move(page: TreePage, to: Spot): Promise<void> {
    const { id } = page;
    const from = this.find(id)?.spot;
    if (!from || from.into === to.into && from.at === to.at) return;
    const parent = to.into && this.find(to.into)?.page;
    const said = from.into === to.into
      ? t("movedTitle", { title: page.title })
      : parent
      ? t("movedTitleUnderParent", { title: page.title, parent: parent.title })
      : t("movedTitleToTopLevel", { title: page.title });
    await this.#do(
      (tree) => withPage(without(tree, id), page, to),
      [{ operation: "update_page", page: id, into: to.into, at: to.at }],
      said,
      (there) => there.#send([{ operation: "update_page", page: id, into: from.into, at: from.at }], said),
    );
  }

  async update(
    page: TreePage,
    fields: { title?: string; icon?: string | null; emoji?: string | null },
  ) {
    const { id } = page;
    const before: typeof fields = {};
    for (const name of Object.keys(fields) as (keyof typeof fields)[]) {
      Object.assign(before, { [name]: page[name] ?? null });
    }
    const said = fields.title !== undefined
      ? t("renamedBeforeToTitle", { before: page.title, title: fields.title })
      : t("changedIconOf", { title: page.title });
    await this.#do(
      (tree) => changed(tree, id, (one) => ({ ...one, ...fields } as TreePage)),
      [{ operation: "update_page", page: id, ...fields }],
      said,
      (there) => there.#send([{ operation: "update_page", page: id, ...before }], said),
    );
  }

  /** Upload a file for a page, and return its ID. */
  async uploadFile(file: File): Promise<string> {
    const files = [await readBytes(this.space, file)];
    const { files: made } = await this.#send([{ operation: "insert_files", files }], file.name);
    if (!made[0]) throw new ApiError(502, t("serverDidntReturnFileLocation"));
    return made[0].id;
  }

  /** Set fields of a page. `before`: their previous values. Throws the server's errors. */
  async saveSettings(page: Page, before: PageFields, fields: PageFields): Promise<void> {
    const { id } = page;
    const said = t("savedSettingsOf", { title: page.title });
    await this.#try(
      (tree) => changed(tree, id, (one) => ({ ...one, ...fields } as TreePage)),
      [{ operation: "update_page", page: id, ...fields }],
      said,
      (there) => there.#send([{ operation: "update_page", page: id, ...before }], said),
    );
  }

  /** Create a page with this `markdown`, and return its ID. */
  async add(
    title: string,
    to: Spot,
    markdown = "",
    said = t("addedTitle", { title }),
  ): Promise<string | undefined> {
    const temporary = newPage("document", title);
    const [made] = await this.#do(
      (tree) => withPage(tree, temporary, to),
      [{ operation: "insert_page", title, document: { markdown }, into: to.into, at: to.at }],
      said,
      (there) => there.#send([{ operation: "delete_page", page: (made?.page as { id: string }).id }], said),
    );
    return (made?.page as { id: string } | undefined)?.id;
  }

  async addGroup(title: string, to: Spot): Promise<void> {
    const [made] = await this.#do(
      (tree) => withPage(tree, newPage("group", title), to),
      [{ operation: "insert_group", title, into: to.into, at: to.at }],
      t("addedGroupTitle", { title }),
      (there) => there.#send([{ operation: "delete_page", page: (made?.page as { id: string }).id }], title),
    );
  }

  async duplicate(page: TreePage): Promise<string | undefined> {
    const source = await readMarkdown(this.space, this.base, page.id);
    if (!this.find(page.id)) await this.reach(page.id);
    const spot = this.find(page.id)?.spot;
    if (!spot) return;
    const title = t("titleCopy", { title: page.title });
    return this.add(
      title,
      { into: spot.into, at: spot.at + 1 },
      source,
      t("duplicatedTitle", { title: page.title }),
    );
  }

  async remove(page: TreePage): Promise<void> {
    const { id } = page;
    const before = this.base.kind === "change"
      ? (await changeOf(this.space, this.base.number).refresh({ force: true })).revision
      : (await spaceOf(this.space).refresh({ force: true })).revision;
    await this.#do(
      (tree) => without(tree, id),
      [{ operation: "delete_page", page: id }],
      t("deletedTitle", { title: page.title }),
      (there) => there.#restore(page, before),
    );
  }

  /** Restore a page from a revision, with its child pages. */
  async #restore(page: TreePage, revision: string): Promise<void> {
    const below = page.hasPages
      ? await everyPage(this.space, { kind: "revision", id: revision }, page.id)
      : [];
    await this.#send(
      [page, ...below].map(({ id }) => ({ operation: "revert_page", page: id, revision })),
      page.title,
    );
  }
}

/** Return a page as Markdown without its front matter. */
export async function readMarkdown(space: string, base: Base, page: string): Promise<string> {
  const how = { format: "markdown", pages: false } as const;
  const found = await readPage(space, base, page, how) as { markdown?: string };
  if (found.markdown === undefined) throw new ApiError(0, t("thisPageHasNoText"));
  return found.markdown;
}
