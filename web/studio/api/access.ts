import { operation, type Schemas } from "../../shared/client.ts";
import type { Role } from "../parts/roles.ts";

export type Kind = "space" | "collection" | "site";

const PATHS = {
  space: "/spaces/{spaceId}",
  collection: "/collections/{collectionId}",
  site: "/orgs/{organizationId}/sites/{siteId}",
};

/** Return operations on roles in a space, a collection, or a site. The operations are alike and differ only in the
 * path. */
export function accessOf(kind: Kind, id: string, organizationId: string) {
  const at = PATHS[kind] as "/spaces/{spaceId}";
  const ids = (kind === "site" ? { organizationId, siteId: id } : { [`${kind}Id`]: id }) as {
    spaceId: string;
  };
  return {
    listPeople: (
      query: { page: string | undefined; role: Role | undefined; search: string | undefined },
    ) => operation.GET(`${at}/permissions/aggregate`)(ids, query),
    listTeams: (query: { page: string | undefined }) => operation.GET(`${at}/permissions/teams`)(ids, query),
    explain: (userId: string) => operation.GET(`${at}/permissions/users/{userId}`)({ ...ids, userId }),
    /** Set a role; null removes access. */
    give: (who: { users: string[] } | { teams: string[] }, role: Role | null) =>
      operation.POST(`${at}/permissions`)(ids, { ...who, role }),
    removeUser: (userId: string) => operation.DELETE(`${at}/permissions/users/{userId}`)({ ...ids, userId }),
    removeTeam: (teamId: string) => operation.DELETE(`${at}/permissions/teams/{teamId}`)({ ...ids, teamId }),
    /** The role of all members of the organization. */
    setDefault: (defaultLevel: Schemas["UpdateSpace"]["defaultLevel"]) =>
      operation.PATCH(at)(ids, { defaultLevel }),
  };
}
