/** Who is here, and what of their organization is in reach: it is on every screen. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import { router } from "./router.svelte.ts";
import { forget, Resource, resource } from "./resource.svelte.ts";
import { signIn } from "./signin.ts";

const KEPT = "octavo-organization";
const LIMIT = 1000;

class Session {
  user = new Resource("user", () => ask(api.GET("/user")));
  organizations = new Resource("orgs", () => ask(api.GET("/orgs", { params: { query: { limit: LIMIT } } })));
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

  /** Signs out. What is kept in this browser of somebody's work goes too: text that was not saved, pages opened last. */
  async leave(): Promise<void> {
    await ask(api.POST("/sign-out"));
    forget();
    const { forgetDrafts } = await import("../editor/keeping.ts");
    await forgetDrafts().catch(() => {});
    for (const key of Object.keys(localStorage)) {
      if (/^octavo-(recent|seen|settling|open|organization)/.test(key)) localStorage.removeItem(key);
    }
    signIn();
  }
}

export const session = new Session();

const path = (organizationId: string) => ({ path: { organizationId }, query: { limit: LIMIT } });

export const spacesOf = (organization: string) =>
  resource(
    `org/${organization}/spaces`,
    () => ask(api.GET("/orgs/{organizationId}/spaces", { params: path(organization) })),
  );

export const collectionsOf = (organization: string) =>
  resource(`org/${organization}/collections`, () =>
    ask(api.GET("/orgs/{organizationId}/collections", {
      params: { ...path(organization), query: { limit: LIMIT, nested: true } },
    })));

export const sitesOf = (organization: string) =>
  resource(
    `org/${organization}/sites`,
    () => ask(api.GET("/orgs/{organizationId}/sites", { params: path(organization) })),
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
