/** The files, reusable content, and variables of a space, and the state in which they are edited. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address, MAIN } from "../addresses.ts";
import { getRevisionOfChangeRequestById } from "../api/changes.ts";
import { getCurrentRevision } from "../api/content.ts";
import type { Base } from "../editor/base.ts";
import { type Answer, changeContent, type Changes } from "./changing.ts";
import { notices } from "./notices.svelte.ts";
import { findDraft } from "./drafts.ts";
import { editableBase } from "./drafts.ts";
import { baseKey } from "./parts.ts";
import { refresh, resource } from "./resource.svelte.ts";
import { router } from "./router.svelte.ts";
import { spaceOf } from "./session.svelte.ts";

/** Return the state that is edited: main if it can be edited directly, or else the person's draft, once there is
 * one. */
export const writingBaseOf = (space: string) =>
  resource(`space/${space}/list/writing`, async (): Promise<Base> => {
    const about = await spaceOf(space).refresh();
    if (about.editMode === "live" || !about.permissions.edit) return MAIN;
    const draft = await findDraft(space);
    return draft ? { kind: "change", number: draft.number } : MAIN;
  });

/** Load everything of a state except the text of its pages. */
export const contentsOf = (space: string, base: Base) =>
  resource(`space/${space}/${baseKey(base)}/contents`, () => {
    const query = { metadata: false };
    return base.kind === "change"
      ? getRevisionOfChangeRequestById({ spaceId: space, changeRequestId: String(base.number) }, query)
      : getCurrentRevision({ spaceId: space }, query);
  });

/** Send changes to the state that can be edited. `subject`: the subject of the new draft, if there is no draft yet. */
export async function changeContents(space: string, changes: Changes, subject: string): Promise<Answer> {
  const about = await spaceOf(space).refresh();
  const before = await writingBaseOf(space).refresh();
  const direct = about.editMode === "live";
  const base = direct ? MAIN : await editableBase(space, before, subject);
  const answer = await changeContent(space, base, { changes });
  if (base.kind === "change" && before.kind === "main") {
    notices.say(t("createdInYourDraft", { number: base.number }), {
      action: { text: t("open"), run: () => router.go(address.change(space, base.number, "review")) },
    });
  }
  await Promise.all([refresh(`space/${space}/list/`), refresh(`space/${space}/${baseKey(base)}/`)]);
  return answer;
}

export type Location = Schemas["LocationList"]["items"][number];
type Shown = {
  kind: string;
  page?: { id: string; title: string; path?: string };
  space?: { id: string; title: string };
};

/** Return the place that contains a reference, as a link. */
export function placeOf(
  place: Location,
  space: string,
  base: Base,
): { title: string; href: string } | undefined {
  const found = place as unknown as Shown & {
    reusableContent?: { title: string; id: string };
  };
  if (found.kind === "page" && found.page) {
    const own = found.space?.id === space;
    return {
      title: own ? found.page.title : `${found.space?.title} / ${found.page.title}`,
      href: address.page(found.space?.id ?? space, found.page.path ?? "", own ? base : MAIN),
    };
  }
  if (found.kind === "reusable-content" && found.reusableContent) {
    return {
      title: found.reusableContent.title,
      href: address.space(found.space?.id ?? space, `reusable/${found.reusableContent.id}`),
    };
  }
  return undefined;
}

/** Return the target of a reference as text. */
export function saysOf(target: Location | undefined, space: string): string {
  if (!target) return t("deletedContent");
  const found = target as unknown as {
    kind: string;
    url?: string;
    file?: { name: string };
    space?: { title: string };
    collection?: { title: string };
    user?: { displayName: string };
  };
  return found.url ?? found.file?.name ?? found.user?.displayName ?? placeOf(target, space, MAIN)?.title ??
    found.collection?.title ?? found.space?.title ?? found.kind;
}
