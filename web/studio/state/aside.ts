/** Text that the person wrote on a page and that couldn't be placed there. */
import { askAll } from "../../shared/client.ts";
import { listSetAsideTexts } from "../api/together.ts";
import { resource } from "./resource.svelte.ts";

export const asideOf = (space: string, change: number, page: string) =>
  resource(`space/${space}/aside/${change}/${page}`, async () => {
    const ids = { spaceId: space, changeRequestId: String(change), pageId: page };
    return (await askAll((query) => listSetAsideTexts(ids, query))).items;
  });
