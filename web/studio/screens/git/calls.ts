/** The operations of Git sync, which are the same for spaces, collections, and sites. */
import type { Schemas } from "../../../shared/client.ts";
import {
  connectCollectionGitSync,
  connectGitSync,
  connectSiteGitSync,
  disconnectCollectionGitSync,
  disconnectGitSync,
  disconnectSiteGitSync,
  getCollectionGitSync,
  getGitSync,
  getSiteGitSync,
  previewCollectionGitSync,
  previewGitSync,
  previewSiteGitSync,
  rotateCollectionGitSyncSecret,
  rotateGitSyncSecret,
  rotateSiteGitSyncSecret,
  runCollectionGitSync,
  runGitSync,
  runSiteGitSync,
  updateCollectionGitSync,
  updateGitSync,
  updateSiteGitSync,
} from "../../api/git.ts";

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
    get: () => getGitSync(params.path),
    look: ({ remote, branch, folder, credential }) =>
      previewGitSync(params.path, { remote, branch, folder, credential }),
    connect: (body) => connectGitSync(params.path, body),
    change: (body) => updateGitSync(params.path, body),
    run: (body) => runGitSync(params.path, body),
    renew: () => rotateGitSyncSecret(params.path),
    leave: () => disconnectGitSync(params.path),
  };
}

function ofCollection(id: string): Calls {
  const params = { path: { collectionId: id } };
  return {
    get: () => getCollectionGitSync(params.path),
    look: (body) => previewCollectionGitSync(params.path, body),
    connect: (body) => connectCollectionGitSync(params.path, body),
    change: (body) => updateCollectionGitSync(params.path, body),
    run: (body) => runCollectionGitSync(params.path, body),
    renew: () => rotateCollectionGitSyncSecret(params.path),
    leave: () => disconnectCollectionGitSync(params.path),
  };
}

function ofSite(organizationId: string, siteId: string): Calls {
  const params = { path: { organizationId, siteId } };
  return {
    get: () => getSiteGitSync(params.path),
    look: (body) => previewSiteGitSync(params.path, body),
    connect: (body) => connectSiteGitSync(params.path, body),
    change: (body) => updateSiteGitSync(params.path, body),
    run: (body) => runSiteGitSync(params.path, body),
    renew: () => rotateSiteGitSyncSecret(params.path),
    leave: () => disconnectSiteGitSync(params.path),
  };
}

export const callsOf = (kind: Kind, organization: string, id: string): Calls =>
  kind === "space" ? ofSpace(id) : kind === "collection" ? ofCollection(id) : ofSite(organization, id);
