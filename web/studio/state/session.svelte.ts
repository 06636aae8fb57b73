/** Who is here, and what of their organization is in reach: it is on every screen. */
import { api, ask, askAll, type Schemas } from "../../shared/client.ts";
import { router } from "./router.svelte.ts";
import { Resource, resource } from "./resource.svelte.ts";

const KEPT = "octavo-organization";

class Session {
  user = new Resource("user", () => ask(api.GET("/user")));
  organizations = new Resource("orgs", () => askAll((query) => ask(api.GET("/orgs", { params: { query } }))));
  #chosen: string | null = $state(localStorage.getItem(KEPT));
  /** Of the space that is shown, when it belongs to another organization. */
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

  /** The screen shows something of this organization. */
  enter(organization: string): void {
    if (this.#shown !== organization) this.#shown = organization;
  }

  async start(): Promise<void> {
    await Promise.all([this.user.refresh(), this.organizations.refresh()]);
  }

  /** Tells an organization, once, that this person is here. */
  visit(organization: string): void {
    if (this.#visited.has(organization)) return;
    this.#visited.add(organization);
    ask(api.POST("/orgs/{organizationId}/ping", { params: { path: { organizationId: organization } } }))
      .catch(() => this.#visited.delete(organization));
  }
}

export const session = new Session();

export const spacesOf = (organizationId: string) =>
  resource(
    `org/${organizationId}/spaces`,
    () =>
      askAll((query) =>
        ask(api.GET("/orgs/{organizationId}/spaces", { params: { path: { organizationId }, query } }))
      ),
  );

export const collectionsOf = (organizationId: string) =>
  resource(
    `org/${organizationId}/collections`,
    () =>
      askAll((query) =>
        ask(api.GET("/orgs/{organizationId}/collections", {
          params: { path: { organizationId }, query: { ...query, nested: true } },
        }))
      ),
  );

export const sitesOf = (organizationId: string) =>
  resource(
    `org/${organizationId}/sites`,
    () =>
      askAll((query) =>
        ask(api.GET("/orgs/{organizationId}/sites", { params: { path: { organizationId }, query } }))
      ),
  );

/** The other organizations in which whoever is here may make something: where things can be given to. */
export const organizationsBeside = (organization: string) =>
  (session.organizations.value?.items ?? []).filter((one) =>
    one.id !== organization && one.permissions.createContent
  );

export const spaceOf = (space: string) =>
  resource(
    `space/${space}/`,
    () => ask(api.GET("/spaces/{spaceId}", { params: { path: { spaceId: space } } })),
  );

export const collectionOf = (collection: string) =>
  resource(
    `collection/${collection}/`,
    () => ask(api.GET("/collections/{collectionId}", { params: { path: { collectionId: collection } } })),
  );
