/** A site: its settings, its structure, and its traffic. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import {
  getSiteById,
  getSiteCustomizationById,
  getSitePublishingPreviewById,
  getSiteStructure,
  listSiteAdaptiveTemplateConditions,
  listSiteDrafts,
  type SitePath,
  updateSiteById,
} from "../api/sites.ts";
import { MAIN } from "../addresses.ts";
import { readLevel } from "./parts.ts";
import { countMost } from "./counts.ts";
import { notices } from "./notices.svelte.ts";
import { refresh, resource } from "./resource.svelte.ts";

export type Site = Schemas["Site"];
export type Section = Schemas["SiteSection"];
export type Group = Schemas["SiteSectionGroup"];
export type SiteSpace = Schemas["SiteSpace"];
export type ExternalLink = Schemas["SiteExternalLink"];
export type Draft = Schemas["SiteDraft"];
export type Node = Section | Group | ExternalLink;
export type Structure = Schemas["SectionsStructure"] | Schemas["SiteSpacesStructure"];
export type Visibility = Site["visibility"];

export type { SitePath };
export const sitePath = (organization: string, site: string): SitePath => ({
  organizationId: organization,
  siteId: site,
});

export const siteOf = (path: SitePath) => resource(`site/${path.siteId}/`, () => getSiteById(path));

export const structureOf = (path: SitePath) =>
  resource(
    `site/${path.siteId}/structure`,
    (): Promise<Structure> => getSiteStructure(path),
  );

/** Load the customization, which applies to all spaces of the site that don't have their own. */
export const lookOf = (path: SitePath) =>
  resource(`site/${path.siteId}/look`, () => getSiteCustomizationById(path));

/** Load suggested conditions, and when the schema from which they are derived was last set, if ever. */
export const conditionsOf = (path: SitePath) =>
  resource(`site/${path.siteId}/conditions`, () => listSiteAdaptiveTemplateConditions(path));

/** Load the drafts of a site. */
export const draftsOf = (path: SitePath) =>
  resource(`site/${path.siteId}/drafts`, () => listSiteDrafts(path));

/** Load the top-level pages of a space, with their titles. */
export const topPagesOf = (space: string) =>
  resource(`space/${space}/main/top-pages`, async (): Promise<[string, string][]> => {
    const { items } = await readLevel(space, MAIN, undefined, { limit: 50 });
    return items.filter((one) => one.type === "document").map((one) => [one.id, one.title]);
  });

export const isLink = (node: { object: string }): node is ExternalLink =>
  node.object === "site-external-link";
export const isGroup = (node: Node): node is Group => node.object === "site-section-group";

/** Return all sections, including those in groups. */
export const sectionsIn = (nodes: readonly Node[]): Section[] =>
  nodes.flatMap((node) => isGroup(node) ? sectionsIn(node.children as Node[]) : isLink(node) ? [] : [node]);

/** Return the content of a site in reading order. */
export const siteSpacesIn = (structure: Structure): SiteSpace[] =>
  structure.type === "siteSpaces"
    ? structure.structure
    : sectionsIn(structure.structure as Node[]).flatMap((section) => section.siteSpaces);

/** Return the languages of spaces, each once. */
export const languagesAmong = (spaces: readonly SiteSpace[]): string[] => [
  ...new Set(spaces.flatMap((one) => one.space.language ?? [])),
];

/** Return the languages of a site, each once. */
export const languagesOf = (structure: Structure | undefined): string[] =>
  structure ? languagesAmong(siteSpacesIn(structure)) : [];

/** Reload all data of a site, and the lists that contain it. */
export function refreshSite(path: SitePath): void {
  refresh(`site/${path.siteId}/`);
  refresh(`org/${path.organizationId}/sites`);
  refresh("space/");
}

/** Change a site, and show the result. */
export async function updateSite(path: SitePath, body: Schemas["UpdateSite"]): Promise<Site> {
  const site = await updateSiteById(path, body);
  refreshSite(path);
  return site;
}

/** Open the site in a new window as visitors will see it, whether or not it is published. */
export async function openPreview(path: SitePath, claims?: string): Promise<void> {
  await notices.attempt(async () => {
    const { url } = await getSitePublishingPreviewById(path, claims ? { claims } : {});
    if (!open(url, "_blank", "noopener")) {
      notices.say(t("previewReady"), {
        action: { text: t("open"), run: () => open(url, "_blank") },
      });
    }
  });
}

/** Redirect from a permanent preview URL to a current preview, or else to the site in the app. */
export async function enterPreview(path: SitePath): Promise<void> {
  const url = await getSitePublishingPreviewById(path)
    .then((preview) => preview.url)
    .catch(() => address.site(path.organizationId, path.siteId));
  location.replace(url);
}

/** Load searches of the last days in which no result was opened, most frequent first. */
export const searchesInVain = (path: SitePath, days: number) =>
  resource(`site/${path.siteId}/insights/${days}/unanswered`, async () => {
    const most = (type: string, limit: number) =>
      countMost(path, days, "eventSearchQuery", [{ column: "eventType", values: [type] }], limit);
    const [asked, opened] = await Promise.all([
      most("search_type_query", 300),
      most("search_open_result", 1000),
    ]);
    const found = new Set(opened.map((one) => one.name));
    return asked.filter((one) => one.name && !found.has(one.name)).slice(0, 50)
      .map((one) => ({ query: String(one.name), count: one.count }));
  });
