/** Where a role comes from, in words. */
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

/** What places and teams are called: by their ids. */
export interface Names {
  place: (object: Schemas["PermissionObject"]) => string;
  team: (id: string) => string;
}

/** The reason for a role (null: no access), as a sentence. */
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
