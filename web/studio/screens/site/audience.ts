/** Texts for the audience of a site. */
import { t } from "../../../shared/words.ts";
import type { IconName } from "../../parts/Icon.svelte";
import type { Visibility } from "../../state/site.svelte.ts";

interface Audience {
  icon: IconName;
  /** The label, in one or two words. */
  name: string;
  /** The description, as a sentence. */
  who: string;
}

export const AUDIENCES: Record<Visibility, Audience> = {
  public: {
    icon: "globe",
    name: t("public"),
    who: t("anyoneCanReadItAndSearch"),
  },
  unlisted: {
    icon: "eye-slash",
    name: t("unlisted"),
    who: t("anyoneWithLinkCanRead"),
  },
  "share-link": {
    icon: "link",
    name: t("shareLinks"),
    who: t("onlyPeopleWithOne"),
  },
  "visitor-auth": {
    icon: "lock",
    name: t("authenticatedVisitors"),
    who: t("onlyVisitorsSignedInThrough"),
  },
};

export const VISIBILITIES = Object.keys(AUDIENCES) as Visibility[];
