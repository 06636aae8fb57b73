/** Which spaces and pages whoever is here watches, or wants to hear nothing of. */
import { api, ask, askAll, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import type { MenuItem } from "../parts/Menu.svelte";
import { notices } from "./notices.svelte.ts";
import { resource } from "./resource.svelte.ts";

type Level = Schemas["Watch"]["level"];

const watches = () =>
  resource("watches", () => askAll((query) => ask(api.GET("/user/watches", { params: { query } }))));

async function set(space: string, page: string | undefined, level: Level | undefined): Promise<void> {
  const body = level && { level };
  if (page) {
    const path = { spaceId: space, pageId: page };
    const at = "/spaces/{spaceId}/content/page/{pageId}/watch";
    await (body ? ask(api.PUT(at, { params: { path }, body })) : ask(api.DELETE(at, { params: { path } })));
  } else {
    const path = { spaceId: space };
    const at = "/spaces/{spaceId}/watch";
    await (body ? ask(api.PUT(at, { params: { path }, body })) : ask(api.DELETE(at, { params: { path } })));
  }
  await watches().refresh({ force: true });
}

/** The entries of a menu that watch and mute a page, or a whole space. */
export function watchEntries(space: string, page?: string): MenuItem[] {
  const now = watches().value?.items.find((one) => one.space === space && (one.page ?? undefined) === page)
    ?.level;
  const entry = (level: Level, text: string, said: string): MenuItem => ({
    text,
    icon: level === "watching" ? "eye" : "eye-slash",
    checked: now === level,
    run: async () => {
      try {
        await set(space, page, now === level ? undefined : level);
        notices.say(now === level ? t("As before: you hear of what names you") : said, {
          undo: () => set(space, page, now),
        });
      } catch (problem) {
        notices.fail(problem);
      }
    },
  });
  return page
    ? [
      entry("watching", t("Watch this page"), t("You hear of what happens on this page")),
      entry("muted", t("Mute this page"), t("You hear of this page only where you are named")),
    ]
    : [
      entry("watching", t("Watch this space"), t("You hear of what happens in this space")),
      entry("muted", t("Mute this space"), t("You hear of this space only where you are named")),
    ];
}
