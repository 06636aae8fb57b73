/** What of a change request is in conflict. */
import { api, ask, askAll, type Schemas } from "../../shared/client.ts";
import { type Resource, resource } from "./resource.svelte.ts";

export type OpenConflict = Schemas["OpenConflict"];

/** All conflicts of a change request, the settled ones too. */
export const conflictsOf = (space: string, number: number): Resource<OpenConflict[]> =>
  resource(`space/${space}/changes/${number}/conflicts`, async () => {
    const { items } = await askAll((query) =>
      ask(api.GET("/spaces/{spaceId}/change-requests/{changeRequestId}/conflicts", {
        params: {
          path: { spaceId: space, changeRequestId: String(number) },
          query: { ...query, status: "all" },
        },
      }))
    );
    return items;
  });
