import { api, ApiError, ask, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import type { Base } from "../editor/base.ts";
import { baseKey, firstWay } from "./parts.ts";
import { type Resource, resource } from "./resource.svelte.ts";

export type Page = Schemas["DocumentPage"];

/** The page at a path; the empty path is the first page. */
export function pageByPath(space: string, base: Base, path: string): Resource<Page> {
  return resource(`space/${space}/${baseKey(base)}/path/${path}`, async () => {
    if (!path) return await readFirst(space, base);
    const at = { spaceId: space, pagePath: path };
    const query = { pages: false };
    const found = base.kind === "change"
      ? api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/content/path/{pagePath}", {
        params: { path: { ...at, changeRequestId: String(base.number) }, query },
      })
      : base.kind === "revision"
      ? api.GET("/spaces/{spaceId}/revisions/{revisionId}/path/{pagePath}", {
        params: { path: { ...at, revisionId: base.id }, query },
      })
      : api.GET("/spaces/{spaceId}/content/path/{pagePath}", { params: { path: at, query } });
    return await ask<unknown>(found) as Page;
  });
}

async function readFirst(space: string, base: Base): Promise<Page> {
  const way = await firstWay(space, base).refresh();
  const first = way.levels.at(-1)?.items.find((one) => one.id === way.page);
  if (!first?.path) throw new ApiError(404, t("There is no page yet."));
  return await pageByPath(space, base, first.path).refresh();
}
