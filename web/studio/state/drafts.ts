/** Drafts that edits of a page go to: those of others, one's own, and a new one. */
import type { Schemas } from "../../shared/client.ts";
import {
  createChangeRequest,
  discardChangeRequest,
  listChangeRequestsForSpace,
  listChangeRequestsOfPage,
} from "../api/changes.ts";
import type { Base } from "../editor/base.ts";
import { refresh, resource } from "./resource.svelte.ts";
import { router } from "./router.svelte.ts";
import { session } from "./session.svelte.ts";

type Draft = Schemas["ChangeRequest"];
const DIRECT = "octavo-direct";

/** The drafts and open change requests that edit a page. */
export const changesOfPage = (space: string, page: string) =>
  resource(
    `space/${space}/list/page/${page}`,
    async () => (await listChangeRequestsOfPage({ spaceId: space, pageId: page }, { limit: 20 })).items,
  );

/** Whether nobody has written anything in it. */
const isEmpty = (draft: Draft) => !draft.edits && !draft.comments;

/** My newest draft in a space that has something in it, or none. */
export async function findDraft(space: string): Promise<Draft | undefined> {
  const user = await session.user.refresh();
  const found = await listChangeRequestsForSpace({ spaceId: space }, {
    status: "draft",
    creator: user.id,
    limit: 5,
  });
  return found.items.find((one) => !isEmpty(one));
}

/** Drafts that were begun in this tab: the key of each is its space and number. They go when they are left empty. */
const begun = new Set<string>();
const keyOf = (space: string, number: number) => `${space}/${number}`;

/** Begins a draft that goes again when it is left with nothing in it. */
export async function beginDraft(space: string, subject: string): Promise<Base> {
  const draft = await createChangeRequest({ spaceId: space }, { subject: subject.slice(0, 100) });
  begun.add(keyOf(space, draft.number));
  refresh(`space/${space}/list`);
  return { kind: "change", number: draft.number };
}

/** Something was written in a draft, if only in this browser: it stays. */
export const keepDraft = (space: string, number: number) => begun.delete(keyOf(space, number));

/** A screen of a draft was left: nothing is left of one that was begun here and has nothing in it. */
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
    // It has something in it, or stays until the server deletes what was empty for long.
  }
}

/** Drafts that are published as soon as they are finished, in this browser. */
function directDrafts(): string[] {
  try {
    return JSON.parse(localStorage.getItem(DIRECT) ?? "[]");
  } catch {
    return [];
  }
}

export const isDirect = (space: string, number: number) => directDrafts().includes(keyOf(space, number));

export function markDirect(space: string, number: number): void {
  localStorage.setItem(DIRECT, JSON.stringify([keyOf(space, number), ...directDrafts()].slice(0, 50)));
}
