/** The scopes of tokens: API names and labels. */
import { t } from "../../shared/words.ts";

export const AREAS: [string, string][] = [
  ["content", t("pagesAndFiles")],
  ["changes", t("changeRequests")],
  ["comments", t("comments")],
  ["spaces", t("spacesAndCollections")],
  ["sites", t("sites")],
  ["search", t("search")],
  ["ask", t("aiAnswersAndModels")],
  ["translations", t("translations")],
  ["openapi", t("apiSpecifications")],
  ["conversations", t("conversations")],
  ["imports", t("importsAndExports")],
  ["printing", t("pdf")],
  ["gitsync", t("gitSync")],
  ["integrations", t("integrations")],
  ["webhooks", t("webhooks")],
  ["events", t("liveEvents")],
  ["fonts", t("fonts")],
  ["orgs", t("organizationsMembersAndTeams")],
  ["invitations", t("invitations")],
  ["audit", t("auditLog")],
  ["access", t("rolesSignInAndTokens")],
];
const NAMES = new Map(AREAS);

/** Return scopes as text: `Everything`, `Reads`, `Sites, Search`. */
export function sayScopes(scopes: string[] | null): string {
  if (!scopes || scopes.includes("admin")) return t("canDoEverythingItsOwner");
  const areas = (verb: string) =>
    scopes.filter((one) => one.endsWith(`:${verb}`)).map((one) => {
      const area = one.slice(0, -verb.length - 1);
      return NAMES.get(area) ?? area;
    }).join(", ");
  const [writes, reads] = [areas("write"), areas("read")];
  return [
    scopes.includes("write") && t("canChangeEverythingExceptRoles"),
    scopes.includes("read") && t("canReadEverything"),
    writes && t("writeAreas", { areas: writes }),
    reads && t("readAreas", { areas: reads }),
  ].filter(Boolean).join(" · ") || t("noPermissions");
}
