/** Edits of a space's content, with the result of each. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import { createChangeRequest } from "../api/changes.ts";
import type { Base } from "../editor/base.ts";
import { current } from "./current.svelte.ts";
import { live } from "./live.svelte.ts";
import { refresh } from "./resource.svelte.ts";
import { router } from "./router.svelte.ts";

export type Changes = Schemas["ChangeContent"]["changes"];
export type Answer = Schemas["ChangeContentAnswer"];

/** The revisions that this tab created. */
export const ownRevisions = new Set<string>();

/** Change main or a change request, and return the result of each change. Without `compat=false`, the API returns
 * only the change request. */
export async function changeContent(
  space: string,
  base: Base,
  body: Schemas["ChangeContent"],
  signal?: AbortSignal,
): Promise<Answer> {
  const rest = { body, ...(signal ? { signal } : {}) };
  const answer = base.kind === "change"
    ? ask(api.POST("/spaces/{spaceId}/change-requests/{changeRequestId}/content", {
      params: { path: { spaceId: space, changeRequestId: String(base.number) }, query: { compat: false } },
      ...rest,
    }))
    : ask(api.POST("/spaces/{spaceId}/content", { params: { path: { spaceId: space } }, ...rest }));
  const made = await live.making(answer) as Answer;
  if (made.revision) ownRevisions.add(made.revision);
  return made;
}

/** Open a new change request with a new page. If there is no `title`, the person first names the page. */
export async function startPage(space: string, subject: string, title?: string): Promise<void> {
  const draft = await createChangeRequest({ spaceId: space }, { subject });
  const base = { kind: "change", number: draft.number } as const;
  const made = await changeContent(space, base, {
    changes: [{
      operation: "insert_page",
      title: title ?? t("untitled"),
      document: { markdown: "" },
      into: null,
      ...(title ? {} : { at: 0 }),
    }],
  });
  const page = made.changes[0]?.page as { id: string; path: string } | undefined;
  if (page) current.begin = { page: page.id, at: title ? "text" : "title" };
  refresh(`space/${space}/`);
  refresh("org/");
  await router.go(address.page(space, page?.path ?? "", base));
}
