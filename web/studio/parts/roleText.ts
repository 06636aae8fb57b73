/** Texts that explain where a role comes from. */
import { askAll, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { listTeamsInOrganizationById } from "../api/organizations.ts";
import { resource } from "../state/resource.svelte.ts";

export type Source = Schemas["PermissionSource"];

export const teamsOf = (organizationId: string) =>
  resource(
    `org/${organizationId}/teams`,
    () => askAll((query) => listTeamsInOrganizationById({ organizationId }, query)),
  );

/** Functions that return the names of collections, spaces, and teams by ID. */
export interface Names {
  place: (object: Schemas["PermissionObject"]) => string;
  team: (id: string) => string;
}

/** Return the reason for a role (null: no access) as a sentence. */
export function sayWhy(source: Source | undefined, names: Names, role: string | null = ""): string {
  if (!source) return "";
  const place = names.place(source.object);
  switch (source.type) {
    case "administrator":
      return t("administratorOfPlace", { place });
    case "user":
      return t("assignedDirectlyIn", { place });
    case "team":
      return t("throughTeamsInPlace", { teams: (source.teams ?? []).map(names.team).join(", "), place });
    case "default":
      if (role === null) return t("noAccessExceptForPeople");
      return t("roleForAllMembersOf", { place });
    default:
      return t("roleInPlace", { place });
  }
}
