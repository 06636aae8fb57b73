/** The drafts in which a page can be edited: the person's, other people's, and a new one. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import {
  createChangeRequest,
  discardChangeRequest,
  listChangeRequestsForSpace,
  listChangeRequestsOfPage,
} from "../api/changes.ts";
import { getPageAccess } from "../api/content.ts";
import type { Base } from "../editor/base.ts";
import { refresh, resource } from "./resource.svelte.ts";
import { router } from "./router.svelte.ts";
import { session } from "./session.svelte.ts";

type Draft = Schemas["ChangeRequest"];

/** Load the drafts and open change requests that edit a page. */
export const changesOfPage = (space: string, page: string) =>
  resource(
    `space/${space}/list/page/${page}`,
    async () => (await listChangeRequestsOfPage({ spaceId: space, pageId: page }, { limit: 20 })).items,
  );

/** Return whether a draft is empty. */
const isEmpty = (draft: Draft) => !draft.edits && !draft.comments;

/** Return the person's newest draft in a space, or none. Empty drafts don't count, unless they were started in this
 * tab. */
export async function findDraft(space: string): Promise<Draft | undefined> {
  const user = await session.user.refresh();
  const found = await listChangeRequestsForSpace({ spaceId: space }, {
    status: "draft",
    creator: user.id,
    limit: 5,
  });
  return found.items.find((one) => !isEmpty(one) || begun.has(keyOf(space, one.number)));
}

/** Drafts started in this tab, by space and number. They are deleted when they are left without edits. */
const begun = new Set<string>();
const keyOf = (space: string, number: number) => `${space}/${number}`;

/** Return a subject for a draft that edits pages of main. Everyone in the space sees it, so if a page is restricted or
 * isn't in main, the subject doesn't name it. */
export async function subjectFor(space: string, pages: readonly string[], subject: string): Promise<string> {
  const found = await Promise.all(
    pages.map((pageId) => getPageAccess({ spaceId: space, pageId }).catch(() => undefined)),
  );
  return (found.every((one) => one?.rules.length === 0) ? subject : t("editPage")).slice(0, 100);
}

/** Start a draft that is deleted when it is left without edits. `pages`: the pages that it will edit. */
export async function beginDraft(space: string, subject: string, pages: readonly string[]): Promise<Base> {
  const draft = await createChangeRequest({ spaceId: space }, {
    subject: await subjectFor(space, pages, subject),
  });
  begun.add(keyOf(space, draft.number));
  refresh(`space/${space}/list`);
  return { kind: "change", number: draft.number };
}

/** Return the state that edits go to: the current one, or the person's draft, which is created if needed. `pages`: the
 * pages to edit. */
export async function editableBase(
  space: string,
  base: Base,
  subject: string,
  pages: readonly string[] = [],
): Promise<Base> {
  if (base.kind === "change") return base;
  const draft = await findDraft(space);
  return draft ? { kind: "change", number: draft.number } : await beginDraft(space, subject, pages);
}

/** Keep a draft because something was typed in it, even if only in this browser. */
export const keepDraft = (space: string, number: number) => begun.delete(keyOf(space, number));

/** Delete a draft that was started in this tab if it is empty when its last screen is left. */
export async function leaveDraft(space: string, number: number): Promise<void> {
  const { place } = router;
  const there = place.screen === "change"
    ? place
    : place.screen === "page" && place.base.kind === "change"
    ? { space: place.space, number: place.base.number }
    : undefined;
  if (there?.space === space && there.number === number) return;
  if (!begun.delete(keyOf(space, number))) return;
  try {
    await discardChangeRequest({ spaceId: space, changeRequestId: String(number) });
    await Promise.all([refresh(`space/${space}/list`), refresh("org/")]);
  } catch {
    // The draft isn't empty, or the server deletes it later.
  }
}
