/** What a token may be allowed, as the API names it and as it is said. */
import { t } from "../../shared/words.ts";

export const AREAS: [string, string][] = [
  ["content", t("Pages and files")],
  ["changes", t("Change requests")],
  ["comments", t("Comments")],
  ["spaces", t("Spaces and collections")],
  ["sites", t("Sites")],
  ["search", t("Search")],
  ["ask", t("Answers and models")],
  ["translations", t("Translations")],
  ["openapi", t("API specifications")],
  ["conversations", t("Conversations")],
  ["imports", t("Imports and exports")],
  ["printing", t("PDF")],
  ["gitsync", t("Git sync")],
  ["integrations", t("Integrations")],
  ["webhooks", t("Webhooks")],
  ["events", t("Events as they happen")],
  ["fonts", t("Fonts")],
  ["orgs", t("Organizations, members and teams")],
  ["invitations", t("Invitations")],
  ["audit", t("Audit log")],
  ["access", t("Roles, sign-in and tokens")],
];
const NAMES = new Map(AREAS);

/** Scopes in words: `Everything`, `Reads`, `Sites, Search`. */
export function sayScopes(scopes: string[] | null): string {
  if (!scopes || scopes.includes("admin")) return t("May do all that its owner may");
  const areas = (verb: string) =>
    scopes.filter((one) => one.endsWith(`:${verb}`)).map((one) => {
      const area = one.slice(0, -verb.length - 1);
      return NAMES.get(area) ?? area;
    }).join(", ");
  const [writes, reads] = [areas("write"), areas("read")];
  return [
    scopes.includes("write") && t("Changes all but roles, sign-in and tokens"),
    scopes.includes("read") && t("Reads everything"),
    writes && t("Changes: {areas}", { areas: writes }),
    reads && t("Reads: {areas}", { areas: reads }),
  ].filter(Boolean).join(" · ") || t("May do nothing");
}
