/** Text that the person wrote on a page and that couldn't be placed there. */
import { askAll } from "../../shared/client.ts";
import {
  deleteSetAsideText,
  deleteSetAsideTextInMain,
  listSetAsideTexts,
  listSetAsideTextsInMain,
} from "../api/together.ts";
import { IN_MAIN } from "../editor/base.ts";
import { resource } from "./resource.svelte.ts";

/** Load the texts of a page of a change request, or of main. */
export const asideOf = (space: string, change: number, page: string) =>
  resource(`space/${space}/aside/${change}/${page}`, async () => {
    const ids = { spaceId: space, pageId: page };
    const found = await askAll((query) =>
      change === IN_MAIN
        ? listSetAsideTextsInMain(ids, query)
        : listSetAsideTexts({ ...ids, changeRequestId: String(change) }, query)
    );
    return found.items;
  });

export function dropAside(space: string, change: number, page: string, textId: string) {
  const ids = { spaceId: space, pageId: page, textId };
  return change === IN_MAIN
    ? deleteSetAsideTextInMain(ids)
    : deleteSetAsideText({ ...ids, changeRequestId: String(change) });
}
