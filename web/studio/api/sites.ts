import { askAll, operation } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";

/** The parameters that identify a site in paths of the API. */
export interface SitePath {
  organizationId: string;
  siteId: string;
}

export const removeCustomHostname = operation.DELETE("/custom-hostnames/{hostname}");
export const getCustomHostname = operation.GET("/custom-hostnames/{hostname}");
export const dnsRevalidateCustomHostname = operation.PATCH("/custom-hostnames/{hostname}");
export const listCustomFonts = operation.GET("/orgs/{organizationId}/fonts");
export const createCustomFont = operation.PUT("/orgs/{organizationId}/fonts");
export const deleteCustomFont = operation.DELETE("/orgs/{organizationId}/fonts/{fontId}");
export const updateCustomFont = operation.POST("/orgs/{organizationId}/fonts/{fontId}");
export const listPictures = operation.GET("/orgs/{organizationId}/pictures");
export const createPicture = operation.POST("/orgs/{organizationId}/pictures");
export const deletePicture = operation.DELETE("/orgs/{organizationId}/pictures/{pictureId}");
export const listSiteChannels = operation.GET("/orgs/{organizationId}/sites/{siteId}/channels");
export const createSiteChannel = operation.POST("/orgs/{organizationId}/sites/{siteId}/channels");
export const updateSiteChannelById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/channels/{siteChannelId}",
);
export const deleteSiteChannelById = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/channels/{siteChannelId}",
);
export const listSitesForOrganizationMember = operation.GET(
  "/orgs/{organizationId}/members/{userId}/sites",
);
export const createSite = operation.POST("/orgs/{organizationId}/sites");
export const deleteSiteById = operation.DELETE("/orgs/{organizationId}/sites/{siteId}");
export const getSiteById = operation.GET("/orgs/{organizationId}/sites/{siteId}");
export const updateSiteById = operation.PATCH("/orgs/{organizationId}/sites/{siteId}");
export const getSiteAdaptiveSchema = operation.GET("/orgs/{organizationId}/sites/{siteId}/adaptive-schema");
export const updateSiteAdaptiveSchema = operation.PUT(
  "/orgs/{organizationId}/sites/{siteId}/adaptive-schema",
);
export const listSiteAdaptiveTemplateConditions = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/adaptive-schema/template-conditions",
);
export const getSiteCustomizationById = operation.GET("/orgs/{organizationId}/sites/{siteId}/customization");
export const updateSiteCustomizationById = operation.PUT(
  "/orgs/{organizationId}/sites/{siteId}/customization",
);
export const previewSiteCustomization = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/customization/preview",
);
export const listSiteVisitorSegments = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/insights/visitor-segments",
);
export const listSiteMcpServers = operation.GET("/orgs/{organizationId}/sites/{siteId}/mcp-servers");
export const createSiteMcpServer = operation.POST("/orgs/{organizationId}/sites/{siteId}/mcp-servers");
export const deleteSiteMcpServerById = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/mcp-servers/{siteMcpServerId}",
);
export const updateSiteMcpServerById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/mcp-servers/{siteMcpServerId}",
);
export const publishSite = operation.POST("/orgs/{organizationId}/sites/{siteId}/publish");
export const getSitePublishingAuthById = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/publishing/auth",
);
export const updateSitePublishingAuthById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/publishing/auth",
);
export const regenerateSitePublishingAuthById = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/publishing/auth/regenerate",
);
export const getSitePublishingPreviewById = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/publishing/preview",
);
export const listSitePreviewContent = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/publishing/preview/content",
);
export const listSiteDrafts = operation.GET("/orgs/{organizationId}/sites/{siteId}/drafts");
export const publishSiteDrafts = operation.POST("/orgs/{organizationId}/sites/{siteId}/drafts/publish");
export const addExternalLinkToSite = operation.POST("/orgs/{organizationId}/sites/{siteId}/external-links");
export const deleteSiteExternalLinkById = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/external-links/{siteExternalLinkId}",
);
export const updateSiteExternalLinkById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/external-links/{siteExternalLinkId}",
);
export const listSiteRedirects = operation.GET("/orgs/{organizationId}/sites/{siteId}/redirects");
export const createSiteRedirect = operation.POST("/orgs/{organizationId}/sites/{siteId}/redirects");
export const bulkUpsertSiteRedirects = operation.PUT("/orgs/{organizationId}/sites/{siteId}/redirects");
export const listSuggestedSiteRedirects = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/redirects/suggestions",
);
export const importSiteRedirects = operation.POST("/orgs/{organizationId}/sites/{siteId}/redirects/import");
export const deleteSiteRedirectById = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/redirects/{siteRedirectId}",
);
export const updateSiteRedirectById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/redirects/{siteRedirectId}",
);
export const addSectionGroupToSite = operation.POST("/orgs/{organizationId}/sites/{siteId}/section-groups");
export const deleteSiteSectionGroupById = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/section-groups/{siteSectionGroupId}",
);
export const updateSiteSectionGroupById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/section-groups/{siteSectionGroupId}",
);
export const applyTemplateToSite = operation.POST("/orgs/{organizationId}/sites/{siteId}/template");
export const addSectionToSite = operation.POST("/orgs/{organizationId}/sites/{siteId}/sections");
export const deleteSiteSectionById = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}",
);
export const updateSiteSectionById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}",
);
export const listSiteShareLinks = operation.GET("/orgs/{organizationId}/sites/{siteId}/share-links");
export const createSiteShareLink = operation.POST("/orgs/{organizationId}/sites/{siteId}/share-links");
export const deleteSiteShareLinkById = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/share-links/{shareLinkId}",
);
export const updateSiteShareLinkById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/share-links/{shareLinkId}",
);
export const addSpaceToSite = operation.POST("/orgs/{organizationId}/sites/{siteId}/site-spaces");
export const deleteSiteSpaceById = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}",
);
export const updateSiteSpaceById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}",
);
export const duplicateSiteSpace = operation.POST(
  "/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}/duplicate",
);
export const deleteSiteSpaceCustomizationById = operation.DELETE(
  "/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}/customization",
);
export const getSiteSpaceCustomizationById = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}/customization",
);
export const overrideSiteSpaceCustomizationById = operation.PATCH(
  "/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}/customization",
);
export const getSiteStructure = operation.GET("/orgs/{organizationId}/sites/{siteId}/structure");
export const sortSiteStructure = operation.PATCH("/orgs/{organizationId}/sites/{siteId}/structure/sort");
export const unpublishSite = operation.POST("/orgs/{organizationId}/sites/{siteId}/unpublish");

export const hostnameOf = (site: string, hostname: string) =>
  resource(`site/${site}/hostname/${hostname}`, () => getCustomHostname({ hostname }));

export const segmentsOf = (path: SitePath) =>
  resource(`site/${path.siteId}/segments`, () => listSiteVisitorSegments(path));

export const lookOfVariant = (path: SitePath, variant: string) =>
  resource(
    `site/${path.siteId}/look/${variant}`,
    () => getSiteSpaceCustomizationById({ ...path, siteSpaceId: variant }),
  );

export const fontsOf = (organization: string) =>
  resource(
    `org/${organization}/fonts`,
    () => askAll((query) => listCustomFonts({ organizationId: organization }, query)),
  );

export const picturesOf = (organization: string) =>
  resource(
    `org/${organization}/pictures`,
    () => askAll((query) => listPictures({ organizationId: organization }, query)),
  );

export const suggestedRedirectsOf = (path: SitePath) =>
  resource(`site/${path.siteId}/suggested-redirects`, () => listSuggestedSiteRedirects(path));

export const authOf = (path: SitePath) =>
  resource(`site/${path.siteId}/auth`, () => getSitePublishingAuthById(path));
