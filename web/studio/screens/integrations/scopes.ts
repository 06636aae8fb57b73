/** What an integration asks for, in sentences. */
import type { Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";

type Integration = Schemas["Integration"];
type Scope = Integration["scopes"][number];

/** `grave`: it changes something, or acts on readers. */
export const SCOPES: Record<Scope, { text: string; grave?: true }> = {
  "space:content:read": { text: t("Reads pages, change requests and comments, and searches them.") },
  "space:content:write": { text: t("Changes pages, change requests and comments."), grave: true },
  "space:metadata:read": { text: t("Reads the titles and settings of spaces.") },
  "space:metadata:write": { text: t("Changes the titles and settings of spaces."), grave: true },
  "space:git:sync": {
    text: t("Brings spaces and Git repositories in step, and so changes pages."),
    grave: true,
  },
  "page:feedback:read": { text: t("Is told when readers rate a page.") },
  "site:metadata:read": { text: t("Reads the titles and settings of sites.") },
  "site:views:read": { text: t("Is told which pages are looked at.") },
  "site:script:inject": { text: t("Runs scripts in the browsers of readers."), grave: true },
  "site:script:cookies": { text: t("Sets cookies in the browsers of readers."), grave: true },
  "site:visitor:auth": { text: t("Decides who may read a site, and signs visitors in."), grave: true },
  "site:adaptive:read": { text: t("Reads what a site knows about its visitors.") },
  "site:adaptive:write": { text: t("Changes what a site knows about its visitors."), grave: true },
  "openapi:read": { text: t("Reads API specifications.") },
  "openapi:write": { text: t("Adds, changes and deletes API specifications."), grave: true },
  "conversations:ingest": { text: t("Hands in conversations."), grave: true },
};

/** All that it may do, what is grave first. */
export function sayRights(
  integration: Pick<Integration, "scopes"> & Partial<Pick<Integration, "frameOrigins" | "blocks">>,
): { text: string; grave: boolean }[] {
  const said = integration.scopes.map((scope) => ({
    text: SCOPES[scope]?.text ?? scope,
    grave: SCOPES[scope]?.grave ?? false,
  }));
  for (const origin of integration.frameOrigins ?? []) {
    said.push({ text: t("Shows {host} in frames on pages.", { host: origin }), grave: false });
  }
  for (const block of integration.blocks ?? []) {
    said.push({ text: t("Adds the block “{title}”.", { title: block.title }), grave: false });
  }
  return said.sort((one, other) => Number(other.grave) - Number(one.grave));
}

export const CATEGORIES: [Integration["categories"][number], string][] = [
  ["collaboration", t("Notify")],
  ["visitor-auth", t("Sign in")],
  ["analytics", t("Count visits")],
  ["content", t("Blocks")],
  ["gitsync", t("Git")],
  ["marketing", t("Marketing")],
  ["other", t("Others")],
];
