/** Loads a page from a state of a space, with the revision that contains its text. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import type { DocumentJson } from "../document/types.ts";
import type { Base } from "./base.ts";

export interface LoadedPage {
  page: Pick<Schemas["DocumentPage"], "id" | "title" | "description">;
  document: DocumentJson;
  /** The revision of this text, which saves use as their base. */
  revision: string;
  /** The change request of this text. */
  change?: string;
}

export async function loadPage(space: string, base: Base, id: string): Promise<LoadedPage> {
  const path = { spaceId: space, pageId: id };
  const query = { pages: false };
  let revision: string;
  let changeId: string | undefined;
  if (base.kind === "change") {
    const change = await ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}", {
      params: { path: { spaceId: space, changeRequestId: String(base.number) } },
    }));
    revision = change.revision;
    changeId = change.id;
  } else if (base.kind === "revision") {
    revision = base.id;
  } else {
    const found = await ask(api.GET("/spaces/{spaceId}/content/page/{pageId}", { params: { path, query } }));
    return readPage(found, "");
  }
  const found = await ask(api.GET("/spaces/{spaceId}/revisions/{revisionId}/page/{pageId}", {
    params: { path: { ...path, revisionId: revision }, query },
  }));
  return { ...readPage(found, revision), ...(changeId ? { change: changeId } : {}) };
}

/** Return a page from a response, with its document and revision. */
export function readPage(found: unknown, revision: string): LoadedPage {
  const page = found as Schemas["DocumentPage"];
  return { page, document: (page.document ?? { nodes: [] }) as unknown as DocumentJson, revision };
}
