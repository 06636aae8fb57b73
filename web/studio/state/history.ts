/** The history of a space, and of its pages. */
import type { Schemas } from "../../shared/client.ts";
import { listRevisionsOfPage, listRevisionsOfSpace } from "../api/changes.ts";
import { type Resource, resource } from "./resource.svelte.ts";

type Revision = Schemas["RevisionItem"];

/** Load the revisions of a space, or those that changed one page, newest first. */
export function readRevisions(
  space: string,
  page: string | undefined,
  query: { limit: number; page?: string },
): Promise<Schemas["RevisionItemList"]> {
  return page
    ? listRevisionsOfPage({ spaceId: space, pageId: page }, query)
    : listRevisionsOfSpace({ spaceId: space }, query);
}

/** Load a revision with its number in the list of revisions. Without an ID, it is the newest; the number is null if
 * it isn't in the list. */
export function revisionOf(
  space: string,
  page: string | undefined,
  id: string | undefined,
): Resource<Revision & { number: number } | null> {
  return resource(`space/${space}/revisions/${id ?? "first"}/about/${page ?? ""}`, async () => {
    let before = 0;
    for await (const found of lists(space, page, id ? 1000 : 1)) {
      const at = id ? found.items.findIndex((one) => one.id === id) : 0;
      if (found.items[at]) return { ...found.items[at], number: found.count - before - at };
      if (!id) return null;
      before += found.items.length;
    }
    return null;
  });
}

/** Load the revisions after one revision, up to and including another, newest first. */
export function revisionsBetween(
  space: string,
  page: string | undefined,
  after: string,
  until: string,
): Resource<Revision[]> {
  return resource(`space/${space}/revisions/${until}/since/${after}/${page ?? ""}`, async () => {
    const between: Revision[] = [];
    for await (const { items } of lists(space, page, 1000)) {
      for (const one of items) {
        if (one.id === after) return between;
        if (between.length || one.id === until) between.push(one);
      }
    }
    return between;
  });
}

async function* lists(
  space: string,
  page: string | undefined,
  limit: number,
): AsyncGenerator<Schemas["RevisionItemList"]> {
  for (let next: { page?: string } | undefined = {}; next;) {
    const found: Schemas["RevisionItemList"] = await readRevisions(space, page, { limit, ...next });
    yield found;
    next = found.next;
  }
}
