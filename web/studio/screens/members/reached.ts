/** The objects in an organization that a person can access. */
import { askAll, type Schemas } from "../../../shared/client.ts";
import { t } from "../../../shared/words.ts";
import { listSitesForOrganizationMember } from "../../api/sites.ts";
import { getMemberInOrganizationById } from "../../api/organizations.ts";
import type { Names } from "../../parts/roleText.ts";
import { teamsOf } from "../../parts/roleText.ts";
import { resource } from "../../state/resource.svelte.ts";
import { collectionsOf } from "../../state/session.svelte.ts";

export const memberOf = (organization: string, user: string) =>
  resource(
    `org/${organization}/member/${user}`,
    () => getMemberInOrganizationById({ organizationId: organization, userId: user }),
  );

/** Load the sites that a person can access. `closed`: for administrators, whether to include sites that the person
 * can't access. */
export const sitesOfMember = (organization: string, user: string, closed: boolean) =>
  resource(
    `org/${organization}/member/${user}/sites`,
    () =>
      askAll((query) =>
        listSitesForOrganizationMember(
          { organizationId: organization, userId: user },
          closed ? { ...query, closed } : query,
        )
      ),
  );

/** Return the names of the objects in a reason. `spaces`: the loaded spaces. */
export function namesIn(
  organization: Schemas["Organization"],
  collections: ReturnType<typeof collectionsOf>,
  teams: ReturnType<typeof teamsOf>,
  spaces: () => { id: string; title: string }[],
): Names {
  return {
    place: ({ object, id }) =>
      object === "organization"
        ? organization.title
        : object === "collection"
        ? collections.value?.items.find((one) => one.id === id)?.title ?? t("parentCollectionInline")
        : spaces().find((one) => one.id === id)?.title ?? t("thisSpace"),
    team: (id) => teams.value?.items.find((one) => one.id === id)?.title ?? t("teamInline"),
  };
}
