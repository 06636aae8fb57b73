/** Changes of a space's tree. */
import { ApiError, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address, MAIN } from "../addresses.ts";
import type { Base } from "../editor/base.ts";
import { asGranted, sayGrants } from "../parts/pageAccess.ts";
import { changeContent, type Changes } from "./changing.ts";
import { editableBase } from "./drafts.ts";
import { readBytes } from "./fileInput.ts";
import { current } from "./current.svelte.ts";
import { type Notice, notices } from "./notices.svelte.ts";
import type { Page } from "./page.svelte.ts";
import {
  above,
  changeOf,
  findPage,
  type Level,
  PageTree,
  readMarkdown,
  type Spot,
  TOP,
  type Tree,
  UNSENT,
} from "./pages.svelte.ts";
import { baseKey, everyPage, type TreePage } from "./parts.ts";
import { outdate, refresh } from "./resource.svelte.ts";
import { hideTitle, rulesInMain } from "./restrictedPages.ts";
import { router } from "./router.svelte.ts";
import { spaceOf } from "./session.svelte.ts";

let unsent = 0;

/** Return a tree with another level under a page, if it is loaded. */
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

const newPage = (type: "document" | "group" | "link", title: string): TreePage => ({
  id: UNSENT + unsent++,
  type,
  title,
  hasPages: false,
  hidden: false,
});

/** Fields of a page, as an edit sets them. */
export type PageFields = Omit<Schemas["UpdatePage"], "operation" | "page">;
type Work = [
  guess: (tree: Tree) => Tree,
  changes: Changes,
  said: string,
  undo?: (editor: TreeEditor) => Promise<unknown>,
  more?: More,
];
interface More {
  /** A page whose URL may change. */
  page?: TreePage | undefined;
  /** The path to open instead of the current page, which is deleted. */
  open?: string | undefined;
  action?: Notice["action"];
  /** A page that the edit may restrict. */
  restricts?: Pick<Page, "id" | "title"> | undefined;
}

/** Return the pages that changes edit, and those into which they move or insert pages. */
const pagesIn = (changes: Changes) =>
  changes.flatMap((one) => [
    ...("page" in one ? [one.page] : []),
    ...("into" in one && one.into ? [one.into] : []),
  ]);

const restricts = (changes: Changes) =>
  changes.some((one) => "visibleTo" in one && (one.visibleTo?.length ?? 0) > 0);

/** Changes of a space's tree: each is shown at once, then sent, and can be undone. */
export class TreeEditor extends PageTree {
  /** Send changes to the state that accepts edits. Returns its base, the results, and the new files. */
  async #send(
    changes: Changes,
    subject: string,
  ): Promise<{ base: Base; made: Schemas["PageResult"][]; files: Schemas["File"][] }> {
    const space = await spaceOf(this.space).refresh();
    const direct = this.base.kind === "main" && space.editMode === "live";
    const base = direct ? MAIN : await editableBase(
      this.space,
      this.base,
      restricts(changes) ? t("editPage") : subject,
      pagesIn(changes),
    );
    const { changes: made, insertedFiles: files = [] } = await changeContent(this.space, base, { changes });
    refresh(`space/${this.space}/${baseKey(base)}`);
    if (base.kind === "main") outdate("favorites");
    return { base, made, files };
  }

  /** Like `#try`, but show errors. */
  #do(...work: Work): Promise<Schemas["PageResult"][]> {
    return this.#try(...work).catch((problem) => {
      notices.fail(problem);
      throw problem;
    });
  }

  /** Show the expected result, send, confirm, and offer to undo. Opens the draft if it was created or continued. */
  async #try(...[guess, changes, said, undo, more = {}]: Work): Promise<Schemas["PageResult"][]> {
    const stays = this.base.kind === "change" || spaceOf(this.space).value?.editMode === "live";
    const takeBack = stays ? this.resource.guess(guess) : () => {};
    try {
      const { base, made } = await this.#send(changes, said);
      const there = new TreeEditor(this.space, base);
      if (base.kind === "change" && more.restricts) {
        hideTitle(this.space, base.number, more.restricts).catch((problem) => notices.fail(problem));
      }
      const isOther = baseKey(base) !== baseKey(this.base);
      if (isOther || more.open !== undefined) this.#follow(isOther ? base : this.base, more.open);
      const { page, action } = more;
      const to = (made[0]?.page as { path?: string } | undefined)?.path;
      const redirects = page?.path && to && to !== page.path && (await this.#urlsOf(page)).urls.length;
      const done = !redirects
        ? said
        : base.kind === "change"
        ? t("oldUrlsRedirectAfterMerge", { done: said })
        : t("oldUrlsRedirect", { done: said });
      notices.say(done, { action, ...(undo ? { undo: () => undo(there) } : {}) });
      return made;
    } catch (problem) {
      takeBack();
      throw problem;
    }
  }

  #follow(base: Base, path?: string): void {
    const { place } = router;
    if (place.screen === "page" && place.space === this.space) {
      router.go(address.page(this.space, path ?? place.path, base), { replace: true });
    }
  }

  /** Return the public URLs of a page, and the action that adds a redirect from them. There are none if the URLs
   * can't be determined. */
  async #urlsOf(page: TreePage) {
    const { publicUrls, redirectAction } = await import("./publicUrls.ts");
    const urls = await publicUrls(this.space, page).catch(() => []);
    return { urls, action: redirectAction(urls) };
  }

  /** Return the path to open when a page is deleted: its parent's or that of the first page. Returns undefined if
   * neither the page nor a page under it is shown. */
  #pathBeside(id: string): string | undefined {
    const { page: shown } = current;
    if (current.space !== this.space || !shown) return undefined;
    if (shown !== id && !above(this.tree, shown)?.some((one) => one.id === id)) return undefined;
    return above(this.tree, id)?.findLast((one) => one.type === "document")?.path ?? "";
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
      { page, restricts: to.into === from.into ? undefined : page },
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
      { page },
    );
  }

  /** Upload a file for a page, and return its id. */
  async uploadFile(file: File): Promise<string> {
    const files = [await readBytes(this.space, file)];
    const { files: made } = await this.#send([{ operation: "insert_files", files }], file.name);
    if (!made[0]) throw new ApiError(502, t("serverDidntReturnFileLocation"));
    return made[0].id;
  }

  /** Set fields of a page with the previous values `before`. Throws the server's errors. */
  async saveFields(page: Page, before: PageFields, fields: PageFields): Promise<void> {
    const { id } = page;
    const said = t("updatedPageTitle", { title: page.title });
    const changes: Changes = [{ operation: "update_page", page: id, ...fields }];
    await this.#try(
      (tree) => changed(tree, id, (one) => ({ ...one, ...fields } as TreePage)),
      changes,
      said,
      (there) => there.#send([{ operation: "update_page", page: id, ...before }], said),
      { page: this.find(id)?.page, restricts: restricts(changes) ? page : undefined },
    );
  }

  /** Create a page with this `markdown` and these fields, and return its id. */
  async add(
    title: string,
    to: Spot,
    markdown = "",
    said = t("addedTitle", { title }),
    fields: PageFields = {},
  ): Promise<string | undefined> {
    const temporary = newPage("document", title);
    const [made] = await this.#do(
      (tree) => withPage(tree, temporary, to),
      [{ operation: "insert_page", title, document: { markdown }, into: to.into, at: to.at, ...fields }],
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

  /** Add a link to a website. Throws the server's errors. */
  async addLink(title: string, url: string, to: Spot): Promise<void> {
    const [made] = await this.#try(
      (tree) => withPage(tree, newPage("link", title), to),
      [{ operation: "insert_link", title, target: { kind: "url", url }, into: to.into, at: to.at }],
      t("addedTitle", { title }),
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
      await this.#ruleOfCopy(page),
    );
  }

  /** Return the rule of the copy of a page, which must not be visible to more people than the page. Only administrators
   * see the copy if a rule in main doesn't apply to the copy, for example because the draft is older than the rule. */
  async #ruleOfCopy({ id, visibleTo }: TreePage): Promise<PageFields> {
    const inherited = new Set(above(this.tree, id)?.map((one) => one.id));
    const own = sayGrants((visibleTo ?? []).map(asGranted));
    const applies = (rule: Schemas["PageAccessRule"]) =>
      rule.page === id ? sayGrants(rule.grants) === own : inherited.has(rule.page);
    if (!(await rulesInMain(this.space, id)).every(applies)) {
      return { visibleTo: [{ kind: "administrators" }] };
    }
    return visibleTo ? { visibleTo } : {};
  }

  async remove(page: TreePage): Promise<void> {
    const { id } = page;
    const open = this.#pathBeside(id);
    // Undo restores what is in a revision.
    if (open !== undefined) await current.save().catch(() => {});
    const [{ action }, { revision: before }] = await Promise.all([
      this.#urlsOf(page),
      this.base.kind === "change"
        ? changeOf(this.space, this.base.number).refresh({ force: true })
        : spaceOf(this.space).refresh({ force: true }),
    ]);
    const shown = current.page;
    // The tree would ask where the deleted page is.
    if (open !== undefined) current.page = undefined;
    try {
      await this.#do(
        (tree) => without(tree, id),
        [{ operation: "delete_page", page: id }],
        t("deletedTitle", { title: page.title }),
        (there) => there.#restore(page, before),
        { open, action },
      );
    } catch (problem) {
      current.page ??= shown;
      throw problem;
    }
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
