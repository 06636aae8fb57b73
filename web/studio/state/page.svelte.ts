import { ApiError, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { readPage, readPageAt } from "../api/content.ts";
import type { Base } from "../editor/base.ts";
import { baseKey, firstWay } from "./parts.ts";
import { type Resource, resource } from "./resource.svelte.ts";

export type Page = Schemas["DocumentPage"];

/** Return a page by its ID. `known`: the server's latest description of the page. */
export function pageById(space: string, base: Base, id: string, known?: Page): Resource<Page> {
  return resource(
    `space/${space}/${baseKey(base)}/page/${id}`,
    () => readPage(space, base, id, { pages: false }) as Promise<Page>,
    known,
  );
}

/**
 * Look up the page at a path; an empty path means the first page. The result is cached by ID, never by path,
 * because a path can become another page's when its page is renamed, moved, or deleted.
 */
export async function findPage(space: string, base: Base, path: string): Promise<Page> {
  if (!path) return await findFirst(space, base);
  const found = await readPageAt(space, base, path);
  pageById(space, base, found.id, found);
  return found;
}

async function findFirst(space: string, base: Base): Promise<Page> {
  const way = await firstWay(space, base).refresh();
  const first = way.levels.at(-1)?.items.find((one) => one.id === way.page);
  if (!first?.path) throw new ApiError(404, t("thereAreNoPagesYet"));
  return await pageById(space, base, first.id).refresh();
}
