/** Watches and mutes spaces and pages. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { endPageWatch, endSpaceWatch, setPageWatch, setSpaceWatch } from "../api/inbox.ts";
import { notices } from "./notices.svelte.ts";
import { refresh } from "./resource.svelte.ts";

export type Level = Schemas["Watch"]["level"];

async function set(space: string, page: string | undefined, level: Level | undefined): Promise<void> {
  const body = level && { level };
  if (page) {
    const ids = { spaceId: space, pageId: page };
    await (body ? setPageWatch(ids, body) : endPageWatch(ids));
  } else {
    const ids = { spaceId: space };
    await (body ? setSpaceWatch(ids, body) : endSpaceWatch(ids));
  }
  await refresh("watches");
}

/** Set the level of a page or, without one, of a space, and confirm with what was `said`. */
export async function setWatch(
  space: string,
  page: string | undefined,
  before: Level | undefined,
  level: Level | undefined,
  said: string,
): Promise<void> {
  await notices.attempt(async () => {
    await set(space, page, level);
    notices.say(level ? said : t("backToDefault"), { undo: () => set(space, page, before) });
  });
}
