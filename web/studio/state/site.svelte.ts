/** One site: what it is, how it is built up, and what its visitors do. */
import { api, ask, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { notices } from "./notices.svelte.ts";
import { refresh, resource } from "./resource.svelte.ts";

export type Site = Schemas["Site"];
export type Section = Schemas["SiteSection"];
export type Group = Schemas["SiteSectionGroup"];
export type SiteSpace = Schemas["SiteSpace"];
export type Node = Section | Group;
export type Structure = Schemas["SectionsStructure"] | Schemas["SiteSpacesStructure"];
export type Visibility = Site["visibility"];

/** What names a site in the paths of the API. */
export interface SitePath {
  organizationId: string;
  siteId: string;
}

export const sitePath = (organization: string, site: string): SitePath => ({
  organizationId: organization,
  siteId: site,
});

export const siteOf = (path: SitePath) =>
  resource(
    `site/${path.siteId}/`,
    () => ask(api.GET("/orgs/{organizationId}/sites/{siteId}", { params: { path } })),
  );

export const structureOf = (path: SitePath) =>
  resource(
    `site/${path.siteId}/structure`,
    (): Promise<Structure> =>
      ask(api.GET("/orgs/{organizationId}/sites/{siteId}/structure", { params: { path } })),
  );

export const isGroup = (node: Node): node is Group => node.object === "site-section-group";

/** The sections below these, whatever group they lie in. */
export const sectionsIn = (nodes: readonly Node[]): Section[] =>
  nodes.flatMap((node) => isGroup(node) ? sectionsIn(node.children as Node[]) : [node]);

/** What a site shows, in reading order. */
export const siteSpacesIn = (structure: Structure): SiteSpace[] =>
  structure.type === "siteSpaces"
    ? structure.structure
    : sectionsIn(structure.structure as Node[]).flatMap((section) => section.siteSpaces);

/** Asks anew for all of a site, and for the lists that show it. */
export function refreshSite(path: SitePath): void {
  refresh(`site/${path.siteId}/`);
  refresh(`org/${path.organizationId}/sites`);
  refresh("space/");
}

/** Changes a site and shows it as it is then. */
export async function updateSite(path: SitePath, body: Schemas["UpdateSite"]): Promise<Site> {
  const site = await ask(api.PATCH("/orgs/{organizationId}/sites/{siteId}", { params: { path }, body }));
  refreshSite(path);
  return site;
}

/** Opens the site in a new window as its visitors will see it, published or not. */
export async function openPreview(path: SitePath, claims?: string): Promise<void> {
  try {
    const { url } = await ask(api.GET("/orgs/{organizationId}/sites/{siteId}/publishing/preview", {
      params: { path, query: claims ? { claims } : {} },
    }));
    if (!open(url, "_blank", "noopener")) {
      notices.say(t("The preview is ready."), {
        action: { text: t("Open it"), run: () => open(url, "_blank") },
      });
    }
  } catch (problem) {
    notices.fail(problem);
  }
}

/** Counts of what visitors did: a row for each of the groups, with its values by their columns. */
export async function countEvents(
  path: SitePath,
  body: Schemas["Aggregate"],
): Promise<Record<string, unknown>[]> {
  const { columns } = await ask(
    api.POST("/orgs/{organizationId}/sites/{siteId}/insights/events/aggregate", { params: { path }, body }),
  );
  return (columns[0]?.values ?? []).map((_, at) =>
    Object.fromEntries(columns.map(({ column, values }) => [column, values[at]]))
  );
}
