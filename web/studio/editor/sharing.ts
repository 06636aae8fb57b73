/** Loads what the pages of a space share: reusable content and variables. */
import { api, ask } from "../../shared/client.ts";
import type { DocumentJson } from "../document/types.ts";
import type { Base } from "./base.ts";

export interface Shared {
  contents: { id: string; title: string }[];
  variables: Record<string, string>;
  /** The revision from which this was read. */
  revision: string;
}

/** Load the data that the pages of a space share, on main or in a change request. */
export async function readShared(space: string, base: Base): Promise<Shared> {
  const path = { spaceId: space };
  const query = { metadata: false, pages: false };
  const found = base.kind === "change"
    ? await ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/content", {
      params: { path: { ...path, changeRequestId: String(base.number) }, query },
    }))
    : base.kind === "revision"
    ? await ask(api.GET("/spaces/{spaceId}/revisions/{revisionId}", {
      params: { path: { ...path, revisionId: base.id }, query },
    }))
    : await ask(api.GET("/spaces/{spaceId}/content", { params: { path, query } }));
  const { id, reusableContents = [], variables = {} } = found as {
    id: string;
    reusableContents?: { id: string; title: string }[];
    variables?: Record<string, string>;
  };
  return { contents: reusableContents, variables, revision: id };
}

/** Load the text of reusable content. */
export async function readReusable(space: string, revision: string, id: string): Promise<DocumentJson> {
  return await ask(
    api.GET("/spaces/{spaceId}/revisions/{revisionId}/reusable-contents/{reusableContentId}/document", {
      params: { path: { spaceId: space, revisionId: revision, reusableContentId: id } },
    }),
  ) as unknown as DocumentJson;
}
