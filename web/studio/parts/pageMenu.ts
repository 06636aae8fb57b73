/** The actions for a page, in its tree and in its bar. */
import { copyText } from "./copying.ts";
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import type { Base } from "../editor/base.ts";
import { favoriteEntry } from "../state/favorites.ts";
import { editTree } from "../state/editingTree.ts";
import { frame } from "../state/frame.svelte.ts";
import type { Action } from "../state/keys.ts";
import { notices } from "../state/notices.svelte.ts";
import { pageById } from "../state/page.svelte.ts";
import { above, type PageTree, readMarkdown } from "../state/pages.svelte.ts";
import type { TreePage } from "../state/parts.ts";
import type { TreeEditor } from "../state/treeEditor.ts";
import { watchEntries } from "../state/watching.ts";
import type { MenuEntry } from "./Menu.svelte";

/** Return the actions that create something in the navigation of a space. `add`: creates a page and opens it. */
export function newEntries(tree: PageTree, add: () => unknown): (MenuEntry & Action)[] {
  return [
    { text: t("newPage"), icon: "plus", run: add },
    {
      text: t("newGroup"),
      icon: "folder",
      run: () =>
        editTree(tree).then((editor) => editor.addGroup(t("newGroup"), { into: null })).catch(() => {}),
    },
    {
      text: t("newLink"),
      icon: "link",
      run: async () => frame.open(() => import("./NewLinkDialog.svelte"), { editor: await editTree(tree) }),
    },
  ];
}

async function openAccess(tree: PageTree, { id }: TreePage, organization: string): Promise<void> {
  await notices.attempt(async () => {
    const page = await pageById(tree.space, tree.base, id).refresh({ force: true });
    frame.open(() => import("./PageAccessDialog.svelte"), {
      editor: await editTree(tree),
      page,
      organization,
    });
  });
}

interface About {
  page: TreePage;
  tree: PageTree;
  editable: boolean;
  base: Base;
  /** The space, if it is loaded. */
  about: Schemas["Space"] | undefined;
  rename?: () => unknown;
  add?: () => unknown;
}

/** Save the page as a page template of this space. */
async function keepAsTemplate(space: string, base: Base, page: TreePage): Promise<void> {
  await notices.attempt(async () => {
    const { keepPage } = await import("../editor/reusing.ts");
    await keepPage(space, base, page);
    notices.say(
      t("templateSavedNewPages", { title: page.title }),
    );
  });
}

async function copy(what: () => Promise<string> | string, said: string): Promise<void> {
  await notices.attempt(async () => {
    await copyText(await what());
    notices.say(said);
  });
}

async function openSettings(tree: PageTree, { id }: TreePage): Promise<void> {
  await notices.attempt(async () => {
    const page = await pageById(tree.space, tree.base, id).refresh({ force: true });
    frame.open(() => import("./PageOptions.svelte"), { editor: await editTree(tree), page });
  });
}

export function pageMenu({ page, tree, editable, base, about, rename, add }: About): MenuEntry[] {
  const { space } = tree;
  // Errors are shown where they occur.
  const edit = (change: (editor: TreeEditor) => Promise<unknown>) =>
    editTree(tree).then(change).catch(() => {});
  const isDocument = page.type === "document";
  const href = address.page(space, page.path ?? "", base);
  const entries: MenuEntry[] = [];
  if (editable) {
    if (add && page.type !== "link") entries.push({ text: t("newSubpage"), icon: "plus", run: add });
    if (rename) entries.push({ text: t("rename"), icon: "edit", keys: "f2", run: rename });
    if (page.type === "document" || page.type === "group") {
      entries.push({
        text: t("changeIcon"),
        icon: "smile",
        run: async () =>
          frame.open(() => import("./IconDialog.svelte"), { editor: await editTree(tree), page }),
      });
    }
    // Only administrators can give the copy of a restricted page the same restriction.
    if (isDocument && (!page.visibleTo || about?.permissions.admin)) {
      entries.push({
        text: t("duplicate"),
        icon: "duplicate",
        run: () => edit((editor) => editor.duplicate(page).catch(notices.fail)),
      });
    }
    // Everyone in the space can use the template.
    const way = [...(above(tree.tree, page.id) ?? []), page];
    if (isDocument && !way.some((one) => one.visibleTo)) {
      entries.push({
        text: t("saveAsTemplate"),
        icon: "template",
        run: () => keepAsTemplate(space, base, page),
      });
    }
    if (add) entries.push(...newEntries(tree, add).slice(1));
    if (page.type !== "computed") {
      entries.push({ text: t("pageOptions"), icon: "gear", run: () => openSettings(tree, page) });
    }
    if (about?.permissions.admin) {
      entries.push({
        text: t("whoCanSeeThisEllipsis"),
        icon: "lock",
        run: () => openAccess(tree, page, about.organization),
      });
    }
    entries.push("line");
    const { into, at } = tree.find(page.id)?.spot ?? { into: null, at: 0 };
    if (at > 0) {
      entries.push({
        text: t("moveUp"),
        icon: "up",
        keys: "alt+shift+arrowup",
        run: () => edit((editor) => editor.move(page, { into, at: at - 1 })),
      });
    }
    if (at < (tree.count(into) ?? 0) - 1 && tree.find(page.id)) {
      entries.push({
        text: t("moveDown"),
        icon: "down",
        keys: "alt+shift+arrowdown",
        run: () => edit((editor) => editor.move(page, { into, at: at + 1 })),
      });
    }
    if (entries.at(-1) !== "line") entries.push("line");
  }
  if (isDocument) {
    if (base.kind === "main") {
      if (editable) {
        entries.push({
          text: t("stillCorrect"),
          icon: "circle-check",
          run: async () => (await import("./verifying.ts")).verify(space, page),
        });
      }
      entries.push(
        { text: t("pageHistory"), icon: "history", href: address.pageHistory(space, page.id) },
        favoriteEntry({ space, page: page.id }),
        ...watchEntries(space, page.id),
        "line",
      );
    }
    entries.push(
      {
        text: t("copyLink"),
        icon: "link",
        run: () => copy(() => location.origin + href, t("linkCopied")),
      },
      {
        text: t("copyAsMarkdown"),
        icon: "copy",
        run: () =>
          copy(
            () => readMarkdown(space, base, page.id),
            t("copiedAsMarkdown", { title: page.title }),
          ),
      },
    );
  }
  if (editable) {
    entries.push("line", {
      text: t("delete"),
      icon: "trash",
      danger: true,
      run: () => edit((editor) => editor.remove(page)),
    });
  }
  return entries;
}
