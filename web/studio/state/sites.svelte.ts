/** Where readers see a space. */
import { api, ask } from "../../shared/client.ts";
import { resource } from "./resource.svelte.ts";

export interface Published {
  site: string;
  title: string;
  /** The address of the space on the site, without a slash at its end; empty where the site is not published. */
  url: string;
}

/** The sites that show a space, and its address on each. */
export const publishedOf = (organization: string, space: string) =>
  resource(`space/${space}/sites`, async (): Promise<Published[]> => {
    const path = { organizationId: organization };
    const sites = await ask(
      api.GET("/orgs/{organizationId}/sites", { params: { path, query: { space, limit: 20 } } }),
    );
    return await Promise.all(sites.items.map(async (site) => {
      const places = await ask(api.GET("/orgs/{organizationId}/sites/{siteId}/site-spaces", {
        params: { path: { ...path, siteId: site.id } },
      }));
      const place = places.items.find((one) => one.space.id === space);
      const url = place?.urls.published ?? site.urls.published ?? "";
      return { site: site.id, title: site.title, url: url.replace(/\/$/, "") };
    }));
  });
