/** The spaces and pages that the person watches or has muted. */
import { askAll } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { listOwnWatches } from "../api/inbox.ts";
import type { MenuItem } from "../parts/Menu.svelte";
import { resource } from "./resource.svelte.ts";
import type { Level } from "./setWatch.ts";

const watches = () => resource("watches", () => askAll((query) => listOwnWatches({}, query)));

/** Return the menu entries for watching and muting a page or a whole space. */
export function watchEntries(space: string, page?: string): MenuItem[] {
  const now = watches().value?.items.find((one) => one.space === space && (one.page ?? undefined) === page)
    ?.level;
  const entry = (level: Level, text: string, said: string): MenuItem => ({
    text,
    icon: level === "watching" ? "eye" : "eye-slash",
    checked: now === level,
    run: () =>
      import("./setWatch.ts").then(({ setWatch }) =>
        setWatch(space, page, now, now === level ? undefined : level, said)
      ),
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
