/** The sources to which a site can be connected, and their settings. */
import type { Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";

export type Connection = Schemas["ContextConnection"];
type Setting = keyof Schemas["ContextSetup"];

interface Connector {
  name: string;
  settings: readonly Setting[];
  /** Whether records are fetched from the source. */
  pulled: boolean;
}

export const CONNECTORS: Record<string, Connector> = {
  "builtin:website": { name: t("website"), settings: ["url"], pulled: true },
  "builtin:github-issues": { name: t("githubIssues"), settings: ["repository", "token"], pulled: true },
  "builtin:github-discussions": {
    name: t("githubDiscussions"),
    settings: ["repository", "token"],
    pulled: true,
  },
  "builtin:zendesk": { name: "Zendesk", settings: ["subdomain", "email", "apiToken"], pulled: true },
  "builtin:intercom": { name: "Intercom", settings: ["token"], pulled: true },
  "builtin:jira": { name: "Jira", settings: ["baseUrl", "apiEmail", "apiToken"], pulled: true },
  "builtin:linear": { name: "Linear", settings: ["token"], pulled: true },
  "builtin:hubspot": { name: "HubSpot", settings: ["token"], pulled: true },
  "builtin:freshdesk": { name: "Freshdesk", settings: ["domain", "apiKey"], pulled: true },
  "builtin:front": { name: "Front", settings: ["token"], pulled: true },
  "builtin:pylon": { name: "Pylon", settings: ["token"], pulled: true },
  "builtin:zoho-desk": {
    name: "Zoho Desk",
    settings: ["dataCenter", "orgId", "clientId", "clientSecret", "refreshToken"],
    pulled: true,
  },
  "builtin:youtube": { name: "YouTube", settings: ["channelId"], pulled: true },
  "builtin:email": { name: t("email"), settings: [], pulled: false },
  "builtin:api": { name: t("api"), settings: [], pulled: false },
};

export const SETTINGS: Record<Setting, { name: string; hint?: string; secret?: boolean }> = {
  url: { name: t("url") },
  repository: { name: t("repository"), hint: t("ownerAndName") },
  token: { name: t("token"), secret: true },
  subdomain: { name: t("subdomain") },
  email: { name: t("emailAddress") },
  apiToken: { name: t("apiToken"), secret: true },
  baseUrl: { name: t("url") },
  apiEmail: { name: t("emailAddress") },
  domain: { name: t("domain") },
  apiKey: { name: t("apiKey"), secret: true },
  channelId: { name: t("channel"), hint: t("channelIdOrHandle") },
  dataCenter: { name: t("dataCenter"), hint: t("endOfZohoDomain") },
  orgId: { name: t("organizationId") },
  clientId: { name: t("clientId") },
  clientSecret: { name: t("clientSecret"), secret: true },
  refreshToken: { name: t("refreshToken"), secret: true },
};

export const STATES: Record<Connection["status"], { name: string; look: string }> = {
  pending: { name: t("pending"), look: "" },
  syncing: { name: t("syncing"), look: "" },
  succeeded: { name: t("synced"), look: "success" },
  failed: { name: t("failed"), look: "danger" },
};

export const nameOf = (connection: Connection): string =>
  connection.label ?? CONNECTORS[connection.connector]?.name ?? connection.connector;

/** Return what distinguishes a connection from others of its kind. */
export const placeOf = ({ setupSettings: set, email }: Connection): string =>
  set?.url ?? set?.repository ?? set?.subdomain ?? set?.baseUrl ?? set?.domain ?? set?.channelId ??
    set?.orgId ??
    email?.ingestionAddress ?? "";
