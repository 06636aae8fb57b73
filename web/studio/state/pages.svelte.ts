/** The pages of a space as its tree shows them, and what can be done to them there. */
import { api, ApiError, ask, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address, MAIN } from "../addresses.ts";
import type { Base } from "../editor/PageBody.svelte";
import { changeContent, type Changes } from "./changing.ts";
import { notices } from "./notices.svelte.ts";
import { refresh, type Resource, resource } from "./resource.svelte.ts";
import { router } from "./router.svelte.ts";
import { session, spaceOf } from "./session.svelte.ts";

export interface TreePage {
  id: string;
  type: "document" | "group" | "link" | "computed";
  title: string;
  path?: string;
  emoji?: string;
  icon?: string;
  hidden?: boolean;
  pages?: TreePage[];
}

export type Mark = "edited" | "new" | "moved" | "deleted";

export const baseKey = (base: Base) =>
  base.kind === "main" ? "main" : base.kind === "change" ? `changes/${base.number}` : `revisions/${base.id}`;

export function pagesOf(space: string, base: Base): Resource<TreePage[]> {
  const path = { spaceId: space };
  const query = { metadata: false };
  return resource(`space/${space}/${baseKey(base)}/pages`, async () => {
    const found = base.kind === "change"
      ? api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/content/pages", {
        params: { path: { ...path, changeRequestId: String(base.number) }, query },
      })
      : base.kind === "revision"
      ? api.GET("/spaces/{spaceId}/revisions/{revisionId}/pages", {
        params: { path: { ...path, revisionId: base.id }, query },
      })
      : api.GET("/spaces/{spaceId}/content/pages", { params: { path, query } });
    return (await ask<{ pages: unknown[] }>(found)).pages as TreePage[];
  });
}

export const changeOf = (space: string, number: number | string) =>
  resource(
    `space/${space}/changes/${number}`,
    () =>
      ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}", {
        params: { path: { spaceId: space, changeRequestId: String(number) } },
      })),
  );

type Differences = Schemas["SemanticChanges"];
const FIRST = 200;

/** All that changed, page by page of the list: the first is shown while the others come, and none is left out. */
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
    (query) =>
      ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/changes", {
        params: { path: { spaceId: space, changeRequestId: String(number) }, query },
      })),
  );

/** The first page of a tree that can be read. */
export function firstPage(pages: TreePage[]): TreePage | undefined {
  for (const page of pages) {
    if (page.type === "document") return page;
    const below = firstPage(page.pages ?? []);
    if (below) return below;
  }
}

/** The way from the root to a page, itself last. */
export function wayTo(pages: TreePage[], found: (page: TreePage) => boolean): TreePage[] {
  const stack = pages.map((page) => [page]);
  for (let way = stack.pop(); way; way = stack.pop()) {
    const page = way.at(-1)!;
    if (found(page)) return way;
    for (const child of page.pages ?? []) stack.push([...way, child]);
  }
  return [];
}

/** Where a page is among its siblings. */
export interface Spot {
  into: string | null;
  at: number;
}

export function spotOf(pages: TreePage[], id: string, into: string | null = null): Spot | undefined {
  for (const [at, page] of pages.entries()) {
    if (page.id === id) return { into, at };
    const below = spotOf(page.pages ?? [], id, page.id);
    if (below) return below;
  }
}

function without(pages: TreePage[], id: string): TreePage[] {
  return pages.filter((page) => page.id !== id).map((page) =>
    page.pages?.length ? { ...page, pages: without(page.pages, id) } : page
  );
}

function withPage(pages: TreePage[], added: TreePage, { into, at }: Spot): TreePage[] {
  if (into === null) return pages.toSpliced(at, 0, added);
  return pages.map((page) => {
    if (page.id === into) return { ...page, pages: (page.pages ?? []).toSpliced(at, 0, added) };
    return page.pages?.length ? { ...page, pages: withPage(page.pages, added, { into, at }) } : page;
  });
}

function changed(pages: TreePage[], id: string, change: (page: TreePage) => TreePage): TreePage[] {
  return pages.map((page) =>
    page.id === id
      ? change(page)
      : page.pages?.length
      ? { ...page, pages: changed(page.pages, id, change) }
      : page
  );
}

/** My newest draft in a space, or none. */
export async function findDraft(space: string): Promise<Schemas["ChangeRequest"] | undefined> {
  const user = await session.user.refresh();
  const found = await ask(api.GET("/spaces/{spaceId}/change-requests", {
    params: { path: { spaceId: space }, query: { status: "draft", creator: user.id, limit: 1 } },
  }));
  return found.items[0];
}

/** Where edits of a space go from here: where somebody is, or their draft, which is made when there is none. */
export async function editableBase(space: string, base: Base, subject: string): Promise<Base> {
  if (base.kind === "change") return base;
  const draft = await findDraft(space) ?? await ask(
    api.POST("/spaces/{spaceId}/change-requests", {
      params: { path: { spaceId: space } },
      body: { subject },
    }),
  );
  refresh(`space/${space}/list`);
  return { kind: "change", number: draft.number };
}

/** Changes of a space's tree: each is shown at once, then done, and can be undone. */
export class TreeEditor {
  constructor(readonly space: string, readonly base: Base) {}

  get #resource(): Resource<TreePage[]> {
    return pagesOf(this.space, this.base);
  }

  get pages(): TreePage[] {
    return this.#resource.value ?? [];
  }

  /** Sends changes to where they may go; the base that has them now, and what was made. */
  async #send(changes: Changes, subject: string): Promise<{ base: Base; made: Schemas["PageResult"][] }> {
    const space = await spaceOf(this.space).refresh();
    const direct = this.base.kind === "main" && space.editMode === "live";
    const base = direct ? MAIN : await editableBase(this.space, this.base, subject);
    const { changes: made } = await changeContent(this.space, base, { changes });
    refresh(`space/${this.space}/${baseKey(base)}`);
    return { base, made };
  }

  /** Guesses, sends, says what was done, and offers to undo it. Goes to the draft where that was made or continued. */
  async #do(
    guess: (pages: TreePage[]) => TreePage[],
    changes: Changes,
    said: string,
    undo?: (editor: TreeEditor) => Promise<unknown>,
  ): Promise<Schemas["PageResult"][]> {
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
      notices.fail(problem);
      throw problem;
    }
  }

  #follow(base: Base): void {
    const { place } = router;
    if (place.screen === "page" && place.space === this.space) {
      router.go(address.page(this.space, place.path, base), { replace: true });
    }
  }

  find(id: string): TreePage | undefined {
    return wayTo(this.pages, (page) => page.id === id).at(-1);
  }

  async move(id: string, to: Spot): Promise<void> {
    const page = this.find(id);
    const from = spotOf(this.pages, id);
    if (!page || !from || from.into === to.into && from.at === to.at) return;
    const parent = to.into && this.find(to.into);
    const said = from.into === to.into
      ? t("Moved “{title}”", { title: page.title })
      : parent
      ? t("Moved “{title}” below “{parent}”", { title: page.title, parent: parent.title })
      : t("Moved “{title}” to the top level", { title: page.title });
    await this.#do(
      (pages) => withPage(without(pages, id), page, to),
      [{ operation: "update_page", page: id, into: to.into, at: to.at }],
      said,
      (there) => there.#send([{ operation: "update_page", page: id, into: from.into, at: from.at }], said),
    );
  }

  async update(
    id: string,
    fields: { title?: string; hidden?: boolean; icon?: string | null; emoji?: string | null },
  ) {
    const page = this.find(id);
    if (!page) return;
    const before: typeof fields = {};
    for (const name of Object.keys(fields) as (keyof typeof fields)[]) {
      Object.assign(before, { [name]: page[name] ?? (name === "hidden" ? false : null) });
    }
    const said = fields.title !== undefined
      ? t("Renamed “{before}” to “{title}”", { before: page.title, title: fields.title })
      : fields.hidden === true
      ? t("“{title}” is hidden from navigation", { title: page.title })
      : fields.hidden === false
      ? t("“{title}” is shown in navigation", { title: page.title })
      : t("Changed the icon of “{title}”", { title: page.title });
    await this.#do(
      (pages) => changed(pages, id, (one) => ({ ...one, ...fields } as TreePage)),
      [{ operation: "update_page", page: id, ...fields }],
      said,
      (there) => there.#send([{ operation: "update_page", page: id, ...before }], said),
    );
  }

  /** Makes a page and gives its id; `markdown` is what it says. */
  async add(
    title: string,
    to: Spot,
    markdown = "",
    said = t("Added “{title}”", { title }),
  ): Promise<string | undefined> {
    const temporary: TreePage = { id: "~new", type: "document", title };
    const [made] = await this.#do(
      (pages) => withPage(pages, temporary, to),
      [{ operation: "insert_page", title, document: { markdown }, into: to.into, at: to.at }],
      said,
      (there) => there.#send([{ operation: "delete_page", page: (made?.page as { id: string }).id }], said),
    );
    return (made?.page as { id: string } | undefined)?.id;
  }

  async addGroup(title: string, to: Spot): Promise<void> {
    const [made] = await this.#do(
      (pages) => withPage(pages, { id: "~new", type: "group", title }, to),
      [{ operation: "insert_group", title, into: to.into, at: to.at }],
      t("Added the group “{title}”", { title }),
      (there) => there.#send([{ operation: "delete_page", page: (made?.page as { id: string }).id }], title),
    );
  }

  async duplicate(id: string): Promise<string | undefined> {
    const page = this.find(id);
    const spot = spotOf(this.pages, id);
    if (!page || !spot) return;
    const source = await readMarkdown(this.space, this.base, id);
    const title = t("{title}, copy", { title: page.title });
    return this.add(
      title,
      { into: spot.into, at: spot.at + 1 },
      source,
      t("Duplicated “{title}”", { title: page.title }),
    );
  }

  async remove(id: string): Promise<void> {
    const page = this.find(id);
    if (!page) return;
    const before = this.base.kind === "change"
      ? (await changeOf(this.space, this.base.number).refresh({ force: true })).revision
      : (await spaceOf(this.space).refresh({ force: true })).revision;
    await this.#do(
      (pages) => without(pages, id),
      [{ operation: "delete_page", page: id }],
      t("Deleted “{title}”", { title: page.title }),
      (there) => there.#restore(page, before),
    );
  }

  /** Brings a page back as it was in a revision, with all that was below it. */
  async #restore(page: TreePage, revision: string): Promise<void> {
    const gone = [page];
    for (const one of gone) gone.push(...one.pages ?? []);
    await this.#send(gone.map(({ id }) => ({ operation: "revert_page", page: id, revision })), page.title);
  }
}

/** A page as Markdown, without the head that says its title and description. */
export async function readMarkdown(space: string, base: Base, page: string): Promise<string> {
  const query = { format: "markdown" } as const;
  const path = { spaceId: space, pageId: page };
  const asked = base.kind === "change"
    ? api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/content/page/{pageId}", {
      params: { path: { ...path, changeRequestId: String(base.number) }, query },
    })
    : base.kind === "revision"
    ? api.GET("/spaces/{spaceId}/revisions/{revisionId}/page/{pageId}", {
      params: { path: { ...path, revisionId: base.id }, query },
    })
    : api.GET("/spaces/{spaceId}/content/page/{pageId}", { params: { path, query } });
  const found = await ask<unknown>(asked) as { markdown?: string };
  if (found.markdown === undefined) throw new ApiError(0, t("This page has no text."));
  return found.markdown;
}
