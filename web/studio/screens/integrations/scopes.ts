/** The scopes of integrations as sentences. */
import type { Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";

type Integration = Schemas["Integration"];
type Scope = Integration["scopes"][number];

/** The scopes as sentences. `grave`: whether a scope changes data or affects readers. */
export const SCOPES: Record<Scope, { text: string; grave?: true }> = {
  "space:content:read": { text: t("readAndSearchPagesChange") },
  "space:content:write": { text: t("editPagesChangeRequests"), grave: true },
  "space:metadata:read": { text: t("readTitlesAndSettingsOfSpaces") },
  "space:metadata:write": { text: t("editTitlesAndSettings"), grave: true },
  "space:git:sync": {
    text: t("syncSpacesWithGitRepositories"),
    grave: true,
  },
  "page:feedback:read": { text: t("receivePageRatingsFromReaders") },
  "site:metadata:read": { text: t("readTitlesAndSettings") },
  "site:views:read": { text: t("receivePageViews") },
  "site:script:inject": { text: t("runScriptsInReadersBrowsers"), grave: true },
  "site:script:cookies": { text: t("setCookiesInReadersBrowsers"), grave: true },
  "site:visitor:auth": { text: t("decideWhoCanReadSite"), grave: true },
  "site:adaptive:read": { text: t("readVisitorDataOfSite") },
  "site:adaptive:write": { text: t("changeVisitorDataOfSite"), grave: true },
  "openapi:read": { text: t("readApiSpecifications") },
  "openapi:write": { text: t("addEditAndDeleteApi"), grave: true },
  "conversations:ingest": { text: t("submitConversations"), grave: true },
};

/** Return all permissions, the most far-reaching ones first. */
export function sayRights(
  integration: Pick<Integration, "scopes"> & Partial<Pick<Integration, "frameOrigins" | "blocks">>,
): { text: string; grave: boolean }[] {
  const said = integration.scopes.map((scope) => ({
    text: SCOPES[scope]?.text ?? scope,
    grave: SCOPES[scope]?.grave ?? false,
  }));
  for (const origin of integration.frameOrigins ?? []) {
    said.push({ text: t("showContentFromInFrames", { host: origin }), grave: false });
  }
  for (const block of integration.blocks ?? []) {
    said.push({ text: t("addBlockTitle", { title: block.title }), grave: false });
  }
  return said.sort((one, other) => Number(other.grave) - Number(one.grave));
}

export const CATEGORIES: [Integration["categories"][number], string][] = [
  ["collaboration", t("collaboration")],
  ["visitor-auth", t("visitorAuthentication")],
  ["analytics", t("analytics")],
  ["content", t("blocks")],
  ["gitsync", t("git")],
  ["marketing", t("marketing")],
  ["other", t("other")],
];
