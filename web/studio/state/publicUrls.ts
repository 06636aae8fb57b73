/** URLs of pages on published sites, and redirects from them. */
import { askAll } from "../../shared/client.ts";
import { n, t } from "../../shared/words.ts";
import { MAIN } from "../addresses.ts";
import { getPageAccess } from "../api/content.ts";
import { listSites } from "../api/published.ts";
import { suggestedRedirectsOf } from "../api/sites.ts";
import { frame } from "./frame.svelte.ts";
import { type Notice, notices } from "./notices.svelte.ts";
import { readWay, type TreePage } from "./parts.ts";
import { spaceOf } from "./session.svelte.ts";
import {
  type Node,
  sectionsIn,
  type Site,
  type SitePath,
  sitePath,
  siteSpacesIn,
  structureOf,
} from "./site.svelte.ts";
import { isHidden, pathOf } from "./structure.svelte.ts";

interface PublicUrl {
  path: SitePath;
  site: Site;
  siteSpace: string;
  /** The path on the site. If the page has subpages, a wildcard includes their paths. */
  source: string;
}

/** The end of a redirect's source that includes all pages under a page of this type. */
const BELOW = { document: "*", group: "/*" };

/** Return the URLs of a page in main, one for each published site that shows it. */
export async function publicUrls(space: string, { id, type, hasPages }: TreePage): Promise<PublicUrl[]> {
  if (type !== "document" && type !== "group") return [];
  const { organization } = await spaceOf(space).refresh();
  const found = await askAll((query) => listSites({ organizationId: organization }, { ...query, space }));
  const sites = found.items.filter((one) => one.published);
  if (!sites.length) return [];
  const [access, way] = await Promise.all([
    getPageAccess({ spaceId: space, pageId: id }),
    readWay(space, MAIN, { to: id }),
  ]);
  const path = way.levels.at(-1)?.items.find((one) => one.id === id)?.path;
  if (!access.published || !path) return [];
  const urls = await Promise.all(sites.map(async (site) => {
    const at = sitePath(organization, site.id);
    const structure = await structureOf(at).refresh();
    const shown = siteSpacesIn(structure).find((one) => one.space.id === space && !isHidden(structure, one));
    if (!shown) return [];
    const source = `${pathOf(structure, shown)}/${path}`.replace("//", "/") + (hasPages ? BELOW[type] : "");
    return [{ path: at, site, siteSpace: shown.id, source: encodeURI(source) }];
  }));
  return urls.flat();
}

/** Return an action that adds a redirect from the first URL, and then offers the next one. */
export function redirectAction(urls: PublicUrl[]): Notice["action"] {
  const [url, ...rest] = urls.filter((one) => one.site.permissions.edit);
  if (!url) return undefined;
  const { path, site, siteSpace, source } = url;
  return {
    text: t("addRedirect"),
    run: () =>
      notices.attempt(async () => {
        const structure = await structureOf(path).refresh();
        frame.open(() => import("../screens/site/RedirectDialog.svelte"), {
          path,
          redirect: null,
          from: source,
          site: site.title,
          siteSpace,
          sections: structure.type === "sections" ? sectionsIn(structure.structure as Node[]) : [],
          spaces: siteSpacesIn(structure),
          drafts: false,
          publishes: site.permissions.admin ?? false,
          ondone: () => {
            suggestedRedirectsOf(path).outdate();
            notices.say(n("redirectCreatedCount", 1), { action: redirectAction(rest) });
          },
        });
      }),
  };
}
