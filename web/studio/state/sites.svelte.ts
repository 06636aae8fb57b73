/** The sites on which readers see a space. */
import { listSites, listSiteSpaces } from "../api/published.ts";
import { resource } from "./resource.svelte.ts";

export interface Published {
  site: string;
  title: string;
  /** The URL of the space on the site, without a trailing slash; empty if the site isn't published. */
  url: string;
  /** Whether the site has a style guide. */
  styled: boolean;
}

/** Load the sites that show a space, and the URL of the space on each. */
export const publishedOf = (organization: string, space: string) =>
  resource(`space/${space}/sites`, async (): Promise<Published[]> => {
    const path = { organizationId: organization };
    const sites = await listSites(path, { space, limit: 20 });
    return await Promise.all(sites.items.map(async (site) => {
      const places = await listSiteSpaces({ ...path, siteId: site.id });
      const place = places.items.find((one) => one.space.id === space);
      const url = place?.urls.published ?? site.urls.published ?? "";
      const styled = site.styleguide !== undefined;
      return { site: site.id, title: site.title, url: url.replace(/\/$/, ""), styled };
    }));
  });
