/** The signed-in person and the accessible parts of their organization, which every screen uses. */
import { askAll, type Schemas } from "../../shared/client.ts";
import { getAuthenticatedUser } from "../api/account.ts";
import {
  listOrganizationsForAuthenticatedUser,
  updateOrganizationMemberLastSeenAt,
} from "../api/organizations.ts";
import { listSites } from "../api/published.ts";
import {
  getCollectionById,
  getSpaceById,
  listCollectionsInOrganizationById,
  listSpacesInOrganizationById,
} from "../api/spaces.ts";
import { router } from "./router.svelte.ts";
import { Resource, resource } from "./resource.svelte.ts";

const KEPT = "octavo-organization";

class Session {
  user = new Resource("user", () => getAuthenticatedUser({}));
  organizations = new Resource(
    "orgs",
    () => askAll((query) => listOrganizationsForAuthenticatedUser({}, query)),
  );
  #chosen: string | null = $state(localStorage.getItem(KEPT));
  /** The organization of the current space, if it is a different one. */
  #shown: string | undefined = $state();
  #visited = new Set<string>();

  get organization(): Schemas["Organization"] | undefined {
    const all = this.organizations.value?.items ?? [];
    const { place } = router;
    const named = place.screen === "organization" || place.screen === "site"
      ? place.organization
      : this.#shown;
    return all.find((one) => one.id === named) ?? all.find((one) => one.id === this.#chosen) ?? all[0];
  }

  choose(organization: string): void {
    this.#chosen = organization;
    this.#shown = undefined;
    localStorage.setItem(KEPT, organization);
  }

  /** Record that the screen shows content of this organization. */
  enter(organization: string): void {
    if (this.#shown !== organization) this.#shown = organization;
  }

  async start(): Promise<void> {
    await Promise.all([this.user.refresh(), this.organizations.refresh()]);
  }

  /** Notify an organization once that the person is active, after the screen has loaded. */
  visit(organization: string): void {
    if (this.#visited.has(organization)) return;
    this.#visited.add(organization);
    setTimeout(() => {
      updateOrganizationMemberLastSeenAt({ organizationId: organization })
        .catch(() => this.#visited.delete(organization));
    }, 5_000);
  }
}

export const session = new Session();

export const spacesOf = (organizationId: string) =>
  resource(
    `org/${organizationId}/spaces`,
    () => askAll((query) => listSpacesInOrganizationById({ organizationId }, query)),
  );

export const collectionsOf = (organizationId: string) =>
  resource(
    `org/${organizationId}/collections`,
    () =>
      askAll((query) => listCollectionsInOrganizationById({ organizationId }, { ...query, nested: true })),
  );

export const sitesOf = (organizationId: string) =>
  resource(`org/${organizationId}/sites`, () => askAll((query) => listSites({ organizationId }, query)));

/** Return the other organizations in which the person can create content, as targets for moves. */
export const organizationsBeside = (organization: string) =>
  (session.organizations.value?.items ?? []).filter((one) =>
    one.id !== organization && one.permissions.createContent
  );

export const spaceOf = (space: string) => resource(`space/${space}/`, () => getSpaceById({ spaceId: space }));

export const collectionOf = (collection: string) =>
  resource(`collection/${collection}/`, () => getCollectionById({ collectionId: collection }));
