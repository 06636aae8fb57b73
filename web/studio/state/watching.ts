/** The spaces and pages that the person watches or has muted. */
import { askAll, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { endPageWatch, endSpaceWatch, listOwnWatches, setPageWatch, setSpaceWatch } from "../api/inbox.ts";
import type { MenuItem } from "../parts/Menu.svelte";
import { notices } from "./notices.svelte.ts";
import { resource } from "./resource.svelte.ts";

type Level = Schemas["Watch"]["level"];

const watches = () => resource("watches", () => askAll((query) => listOwnWatches({}, query)));

async function set(space: string, page: string | undefined, level: Level | undefined): Promise<void> {
  const body = level && { level };
  if (page) {
    const ids = { spaceId: space, pageId: page };
    await (body ? setPageWatch(ids, body) : endPageWatch(ids));
  } else {
    const ids = { spaceId: space };
    await (body ? setSpaceWatch(ids, body) : endSpaceWatch(ids));
  }
  await watches().refresh({ force: true });
}

/** Return the menu entries for watching and muting a page or a whole space. */
export function watchEntries(space: string, page?: string): MenuItem[] {
  const now = watches().value?.items.find((one) => one.space === space && (one.page ?? undefined) === page)
    ?.level;
  const entry = (level: Level, text: string, said: string): MenuItem => ({
    text,
    icon: level === "watching" ? "eye" : "eye-slash",
    checked: now === level,
    run: async () => {
      await notices.attempt(async () => {
        await set(space, page, now === level ? undefined : level);
        notices.say(now === level ? t("backToDefault") : said, {
          undo: () => set(space, page, now),
        });
      });
    },
  });
  return page
    ? [
      entry("watching", t("watchPage"), t("youreNotifiedAboutAllActivity")),
      entry("muted", t("mutePage"), t("youreNotifiedAboutThisPage")),
    ]
    : [
      entry("watching", t("watchSpace"), t("youreNotifiedAboutThisSpace")),
      entry("muted", t("muteSpace"), t("youreNotifiedAboutThisSpaceOnly")),
    ];
}
