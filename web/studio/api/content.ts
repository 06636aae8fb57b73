import { operation, type Schemas } from "../../shared/client.ts";
import type { Base } from "../editor/base.ts";

export const getChangeRequestPDF = operation.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/pdf");
export const getCurrentRevision = operation.GET("/spaces/{spaceId}/content");
export const listPages = operation.GET("/spaces/{spaceId}/content/pages");
export const listPagesInChangeRequest = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/content/pages",
);
export const listFiles = operation.GET("/spaces/{spaceId}/content/files");
export const listSpaceFileBacklinks = operation.GET("/spaces/{spaceId}/content/files/{fileId}/backlinks");
export const listSpacePageBacklinks = operation.GET("/spaces/{spaceId}/content/page/{pageId}/backlinks");
export const getReusableContentById = operation.GET(
  "/spaces/{spaceId}/content/reusable-contents/{reusableContentId}",
);
export const listSpaceReusableContentBacklinks = operation.GET(
  "/spaces/{spaceId}/content/reusable-contents/{reusableContentId}/backlinks",
);
export const getDocumentById = operation.GET("/spaces/{spaceId}/documents/{documentId}");
export const listSpaceLinks = operation.GET("/spaces/{spaceId}/links");
export const getSpacePDF = operation.GET("/spaces/{spaceId}/pdf");
export const getPageInRevisionById = operation.GET("/spaces/{spaceId}/revisions/{revisionId}/page/{pageId}");
export const getPageInChangeRequestById = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/content/page/{pageId}",
);
export const getPageAccess = operation.GET("/spaces/{spaceId}/content/page/{pageId}/access");
export const listPeopleWithPageAccess = operation.GET(
  "/spaces/{spaceId}/content/page/{pageId}/access/people",
);
export const getPageById = operation.GET("/spaces/{spaceId}/content/page/{pageId}");
export const getPageInChangeRequestByPath = operation.GET(
  "/spaces/{spaceId}/change-requests/{changeRequestId}/content/path/{pagePath}",
);
export const getPageInRevisionByPath = operation.GET(
  "/spaces/{spaceId}/revisions/{revisionId}/path/{pagePath}",
);
export const verifyPage = operation.POST("/spaces/{spaceId}/content/page/{pageId}/verify");
export const getPageByPath = operation.GET("/spaces/{spaceId}/content/path/{pagePath}");

type Page = Schemas["DocumentPage"];
type How = { format?: "markdown"; pages: false };

/** Read a page from main, a change request, or a revision. */
export function readPage(spaceId: string, base: Base, pageId: string, how: How): Promise<unknown> {
  const ids = { spaceId, pageId };
  if (base.kind === "change") {
    return getPageInChangeRequestById({ ...ids, changeRequestId: String(base.number) }, how);
  }
  return base.kind === "revision"
    ? getPageInRevisionById({ ...ids, revisionId: base.id }, how)
    : getPageById(ids, how);
}

/** Return the page at a path. */
export function readPageAt(spaceId: string, base: Base, pagePath: string): Promise<Page> {
  const ids = { spaceId, pagePath };
  const how = { pages: false };
  const found: Promise<unknown> = base.kind === "change"
    ? getPageInChangeRequestByPath({ ...ids, changeRequestId: String(base.number) }, how)
    : base.kind === "revision"
    ? getPageInRevisionByPath({ ...ids, revisionId: base.id }, how)
    : getPageByPath(ids, how);
  return found as Promise<Page>;
}
