/** The screens that the palette lists: of a space, a site, an organization, and an account. */
import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import { sitesOf } from "../state/session.svelte.ts";
import type { IconName } from "./Icon.svelte";

export type PalettePlace = [text: string, href: string, icon: IconName];

export function placesOf(
  { organization, space, site, operator }: {
    organization: string | undefined;
    space: string | undefined;
    site: string | undefined;
    /** Whether the person is a server administrator. */
    operator: boolean;
  },
): PalettePlace[] {
  const found: PalettePlace[] = [];
  if (space) {
    const at = (view: string) => address.space(space, view);
    found.push(
      [t("changeRequests"), at("changes"), "pull"],
      [t("history"), at("history"), "history"],
      [t("comments"), at("comments"), "comment"],
      [t("files"), at("files"), "image"],
      [t("reusableContents"), at("reusable"), "duplicate"],
      [t("tags"), at("tags"), "bars"],
      [t("variables"), at("variables"), "bars"],
      [t("links"), at("links"), "link"],
      [t("import"), at("import"), "file-import"],
      [t("exportAndMove"), at("settings/export"), "out"],
      [t("spaceSettings"), at("settings"), "gear"],
      [t("mergeRules"), at("settings/merging"), "merge"],
      [t("gitSync"), at("settings/git"), "branch"],
      [t("members"), at("settings/members"), "people"],
    );
  }
  if (organization && site) {
    const title = sitesOf(organization).value?.items.find(({ id }) => id === site)?.title ?? "";
    const views: [string, string][] = [
      ["structure", t("structure")],
      ["look", t("customization")],
      ["audience", t("audience")],
      ["address", t("domain")],
      ["redirects", t("redirects")],
      ["insights", t("insights")],
      ["settings", t("settings")],
    ];
    for (const [view, text] of views) {
      found.push([`${title}: ${text}`, address.site(organization, site, view), "globe"]);
    }
  }
  if (organization) {
    const at = (view: string) => address.organization(organization, view);
    found.push(
      [t("membersAndAccess"), at("members"), "people"],
      [t("invitations"), at("members/invitations"), "people"],
      [t("teams"), at("members/teams"), "people"],
      [t("integrations"), at("integrations"), "plug"],
      [t("settings"), address.settings(organization, "general"), "gear"],
      [t("apiSpecifications"), address.settings(organization, "openapi"), "gear"],
      [t("translations"), address.settings(organization, "translations"), "gear"],
      [t("conversations"), address.settings(organization, "conversations"), "gear"],
      [t("models"), address.settings(organization, "models"), "gear"],
      [t("imports"), address.settings(organization, "imports"), "file-import"],
      [t("webhooks"), address.settings(organization, "webhooks"), "gear"],
      [t("tokens"), address.settings(organization, "tokens"), "gear"],
      [t("auditLog"), address.settings(organization, "audit"), "history"],
      [t("usage"), address.settings(organization, "usage"), "chart"],
      [t("trash"), address.settings(organization, "trash"), "trash"],
    );
  }
  found.push([t("yourAccount"), address.account, "user"], [t("inbox"), address.inbox, "inbox"]);
  if (operator) found.push([t("serverAdministration"), address.installation(), "gear"]);
  return found;
}
