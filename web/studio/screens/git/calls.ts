/** The operations of Git sync, which are the same of a space, a collection and a site. */
import { api, ask, type Schemas } from "../../../shared/client.ts";

export type Kind = "space" | "collection" | "site";
export type Sync = Schemas["GitSync"] | Schemas["GitProject"];
export type Preview = Schemas["GitPreview"] | Schemas["GitProjectPreview"];
type Connect = Schemas["ConnectGit"];
type Update = Schemas["UpdateGitSync"];
type Run = Schemas["RunGitSync"];

interface Calls {
  get: () => Promise<Sync>;
  look: (body: Connect) => Promise<Preview>;
  connect: (body: Connect) => Promise<{ hookSecret: string }>;
  change: (body: Update) => Promise<Sync>;
  run: (body: Run) => Promise<Sync>;
  renew: () => Promise<{ hookSecret: string }>;
  leave: () => Promise<unknown>;
}

function ofSpace(id: string): Calls {
  const params = { path: { spaceId: id } };
  return {
    get: () => ask(api.GET("/spaces/{spaceId}/git/sync", { params })),
    look: ({ remote, branch, folder, credential }) =>
      ask(
        api.POST("/spaces/{spaceId}/git/preview", { params, body: { remote, branch, folder, credential } }),
      ),
    connect: (body) => ask(api.POST("/spaces/{spaceId}/git/sync", { params, body })),
    change: (body) => ask(api.PATCH("/spaces/{spaceId}/git/sync", { params, body })),
    run: (body) => ask(api.POST("/spaces/{spaceId}/git/sync/run", { params, body })),
    renew: () => ask(api.POST("/spaces/{spaceId}/git/sync/hook-secret", { params })),
    leave: () => ask(api.DELETE("/spaces/{spaceId}/git/sync", { params })),
  };
}

function ofCollection(id: string): Calls {
  const params = { path: { collectionId: id } };
  return {
    get: () => ask(api.GET("/collections/{collectionId}/git/sync", { params })),
    look: (body) => ask(api.POST("/collections/{collectionId}/git/preview", { params, body })),
    connect: (body) => ask(api.POST("/collections/{collectionId}/git/sync", { params, body })),
    change: (body) => ask(api.PATCH("/collections/{collectionId}/git/sync", { params, body })),
    run: (body) => ask(api.POST("/collections/{collectionId}/git/sync/run", { params, body })),
    renew: () => ask(api.POST("/collections/{collectionId}/git/sync/hook-secret", { params })),
    leave: () => ask(api.DELETE("/collections/{collectionId}/git/sync", { params })),
  };
}

function ofSite(organizationId: string, siteId: string): Calls {
  const params = { path: { organizationId, siteId } };
  return {
    get: () => ask(api.GET("/orgs/{organizationId}/sites/{siteId}/git/sync", { params })),
    look: (body) => ask(api.POST("/orgs/{organizationId}/sites/{siteId}/git/preview", { params, body })),
    connect: (body) => ask(api.POST("/orgs/{organizationId}/sites/{siteId}/git/sync", { params, body })),
    change: (body) => ask(api.PATCH("/orgs/{organizationId}/sites/{siteId}/git/sync", { params, body })),
    run: (body) => ask(api.POST("/orgs/{organizationId}/sites/{siteId}/git/sync/run", { params, body })),
    renew: () => ask(api.POST("/orgs/{organizationId}/sites/{siteId}/git/sync/hook-secret", { params })),
    leave: () => ask(api.DELETE("/orgs/{organizationId}/sites/{siteId}/git/sync", { params })),
  };
}

export const callsOf = (kind: Kind, organization: string, id: string): Calls =>
  kind === "space" ? ofSpace(id) : kind === "collection" ? ofCollection(id) : ofSite(organization, id);
