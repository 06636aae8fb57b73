/** Access to repositories through the apps of the server at GitHub and GitLab. */
import { ApiError, type Schemas } from "../../../shared/client.ts";
import {
  beginGitAuthorization,
  createGitInstallation,
  deleteGitInstallation,
  getGitInstallation,
  listGitHubBranches,
  listGitHubRepositories,
  listGitLabBranches,
  listGitLabProjects,
  listGitProviderApps,
} from "../../api/git.ts";
import { resource } from "../../state/resource.svelte.ts";
import type { Kind } from "./calls.ts";

export type AppProvider = Schemas["GitProviderApp"]["provider"];
export type Installation = Schemas["GitInstallation"];
export const LABELS: Record<AppProvider, string> = { github: "GitHub", gitlab: "GitLab" };

/** Repositories that a person can choose after signing in at the provider. */
export interface AppAccess {
  provider: AppProvider;
  /** The URL of the provider's server. */
  url: string;
  repositories: Schemas["GitRepository"][];
  branches: (repository: Schemas["GitRepository"]) => Promise<string[]>;
}

export const providerApps = () => resource("git/apps", () => listGitProviderApps({}));

/** Return the installation of a space, collection, or site; undefined if there is none. */
export const installationOf = (id: string) =>
  resource(`git/installation/${id}`, async (): Promise<{ found?: Installation }> => {
    try {
      return { found: await getGitInstallation({ installationId: id }) };
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 404) return {};
      throw problem;
    }
  });

/** Load the repositories that the signed-in person can see. */
export async function loadAccess(id: string, provider: AppProvider, url: string): Promise<AppAccess> {
  const path = { installationId: id };
  const { items } = await (provider === "github" ? listGitHubRepositories(path) : listGitLabProjects(path));
  return {
    provider,
    url,
    repositories: items,
    branches: async ({ id: number, accountName, repositoryName }) => {
      const found = provider === "github"
        ? await listGitHubBranches({ ...path, accountName, repositoryName })
        : await listGitLabBranches({ ...path, projectId: String(number) });
      return found.items.map(({ name }) => name);
    },
  };
}

const targetOf = (kind: Kind, id: string): Schemas["InstallGitSync"]["target"] =>
  kind === "space"
    ? { type: "space", spaceId: id }
    : kind === "site"
    ? { type: "site", siteId: id }
    : { type: "collection", collectionId: id };

/** Return the provider's URLs for signing in. `present`: the current installation. */
export async function beginAccess(
  kind: Kind,
  id: string,
  provider: AppProvider,
  present: Installation | undefined,
): Promise<Schemas["GitAuthorizationLinks"]> {
  const path = { installationId: id };
  if (present && present.provider !== provider) await deleteGitInstallation(path);
  if (present?.provider !== provider) {
    await createGitInstallation({}, { provider, target: targetOf(kind, id) });
  }
  return await beginGitAuthorization(path);
}
