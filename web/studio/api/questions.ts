/** Operations on the questions that visitors asked the assistant of a site, the answers, and their topics. */
import { operation } from "../../shared/client.ts";
import type { Schemas } from "../../shared/client.ts";
import { resource } from "../state/resource.svelte.ts";
import type { SitePath } from "./sites.ts";

export type Question = Schemas["SiteQuestion"];
export type SiteAnswer = Schemas["SiteQuestionAnswer"];
export type Resolution = SiteAnswer["answered"];

export const listSiteQuestions = operation.GET("/orgs/{organizationId}/sites/{siteId}/questions");
export const listSiteQuestionAnswers = operation.GET("/orgs/{organizationId}/sites/{siteId}/answers");
export const listSiteQuestionSources = operation.GET(
  "/orgs/{organizationId}/sites/{siteId}/questions/{siteQuestionId}/sources",
);
export const getSiteQuestionStats = operation.GET("/orgs/{organizationId}/sites/{siteId}/question-stats");
export const listSiteTopics = operation.GET("/orgs/{organizationId}/sites/{siteId}/topics");

export const questionStatsOf = (path: SitePath) =>
  resource(`site/${path.siteId}/question-stats`, () => getSiteQuestionStats(path));

export const topicsOf = (path: SitePath) =>
  resource(`site/${path.siteId}/topics`, () => listSiteTopics(path));
