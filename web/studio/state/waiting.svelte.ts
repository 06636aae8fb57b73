/** The counts in the navigation of an organization. */
import type { Schemas } from "../../shared/client.ts";
import { listChangeRequestsForOrganization } from "../api/changes.ts";
import { resource } from "./resource.svelte.ts";

type Status = Schemas["ChangeRequest"]["status"];
interface Asked {
  status?: Status;
  creator?: string;
  requestedReviewer?: string;
  limit?: number;
}

export function changeRequestsOf(organization: string, query: Asked) {
  return resource(
    `org/${organization}/changes/${JSON.stringify(query)}`,
    () =>
      listChangeRequestsForOrganization(
        { organizationId: organization },
        { limit: 50, ...query, status: query.status && [query.status] },
      ),
  );
}

export function waitingOf(organization: string): { open: number } {
  return { open: changeRequestsOf(organization, { status: "open", limit: 1 }).value?.count ?? 0 };
}
