/** Who can read a site, in words. */
import { t } from "../../../shared/words.ts";
import type { IconName } from "../../parts/Icon.svelte";
import type { Visibility } from "../../state/site.svelte.ts";

interface Audience {
  icon: IconName;
  /** As a choice, in one or two words. */
  name: string;
  /** Who that is, as a sentence. */
  who: string;
}

export const AUDIENCES: Record<Visibility, Audience> = {
  public: {
    icon: "globe",
    name: t("Everybody"),
    who: t("Everybody can read it, and search engines may list it."),
  },
  unlisted: {
    icon: "eye-slash",
    name: t("Whoever knows the address"),
    who: t("Everybody who knows the address can read it. Search engines are asked not to list it."),
  },
  "share-link": {
    icon: "link",
    name: t("Whoever has a share link"),
    who: t("Whoever has one of its share links can read it. For everybody else there is no such site."),
  },
  "visitor-auth": {
    icon: "lock",
    name: t("Visitors who signed in"),
    who: t("Visitors whom your own sign-in lets through can read it. Everybody else is sent there first."),
  },
};

export const VISIBILITIES = Object.keys(AUDIENCES) as Visibility[];
