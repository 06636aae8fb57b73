/** What of a change request is in conflict. */
import { askAll, type Schemas } from "../../shared/client.ts";
import { listConflictsInChangeRequest } from "../api/changes.ts";
import { type Resource, resource } from "./resource.svelte.ts";

export type OpenConflict = Schemas["OpenConflict"];

/** All conflicts of a change request, the settled ones too. */
export const conflictsOf = (space: string, number: number): Resource<OpenConflict[]> =>
  resource(`space/${space}/changes/${number}/conflicts`, async () => {
    const { items } = await askAll((query) =>
      listConflictsInChangeRequest({ spaceId: space, changeRequestId: String(number) }, {
        ...query,
        status: "all",
      })
    );
    return items;
  });
