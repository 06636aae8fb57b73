/** The conflicts of a change request. */
import { askAll, type Schemas } from "../../shared/client.ts";
import { listConflictsInChangeRequest } from "../api/conflicts.ts";
import { type Resource, resource } from "./resource.svelte.ts";

export type OpenConflict = Schemas["OpenConflict"];

/** Load all conflicts of a change request, including resolved ones. */
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
