/** The results of the palette: local ones at once, others from the server. */
import type { Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { address } from "../addresses.ts";
import { listMembersInOrganizationById } from "../api/organizations.ts";
import { searchChangeRequestContent, searchOrganizationContent, searchSpaceContent } from "../api/search.ts";
import type { Base } from "../editor/base.ts";
import { findDraft } from "../state/drafts.ts";
import type { Action } from "../state/keys.ts";
import { favoritesOf } from "../state/favorites.ts";
import { recentPages } from "../state/recent.ts";
import { session, sitesOf, spacesOf } from "../state/session.svelte.ts";
import { changeRequestsOf } from "../state/waiting.svelte.ts";
import { askAbout } from "./creating.ts";
import type { IconName } from "./Icon.svelte";
import { placesOf } from "./palettePlaces.ts";

export interface Result {
  id: string;
  group: string;
  text: string;
  note?: string;
  icon?: IconName;
  space?: { id: string; emoji?: string };
  change?: Schemas["ChangeRequest"];
  keys?: string;
  href?: string;
  run?: () => unknown;
}

/** A query. `only`: its first character, which limits results to commands, change requests, or people. */
export interface Query {
  organization: string | undefined;
  /** The space to search; undefined for all spaces. */
  scope: string | undefined;
  only: string;
  query: string;
  /** The current site. */
  site?: string | undefined;
  /** The current change request. */
  change?: number | undefined;
}

const RECENT = 6;
const FAVORITES = 8;
const matches = (text: string, wanted: string) =>
  wanted.toLocaleLowerCase().split(/\s+/).every((word) => text.toLocaleLowerCase().includes(word));

/** Return the results that are known without a request. `here`: the actions of the current screen. */
export function knownResults(
  { organization, scope, site, only, query }: Query,
  here: readonly Action[],
): Result[] {
  const list: Result[] = [];
  const user = session.user.value;
  if (user && !query && !only) {
    const favorites = favoritesOf(organization).slice(0, FAVORITES);
    for (const one of favorites) {
      list.push({
        id: `favorite-${one.id}`,
        group: t("favorites"),
        text: one.title,
        href: one.urls.app,
        ...(one.kind === "space"
          ? { space: { id: one.space!, ...(one.emoji ? { emoji: one.emoji } : {}) } }
          : { icon: one.kind === "site" ? "globe" as const : "file" as const }),
      });
    }
    for (const one of recentPages(user.id).filter((page) => !page.edited).slice(0, RECENT)) {
      if (favorites.some(({ page }) => page === one.id)) continue;
      list.push({
        id: `recent-${one.id}`,
        group: t("recentlyViewedPages"),
        text: one.title,
        icon: "clock",
        href: one.href,
      });
    }
  }
  if (organization && !only) {
    for (const one of spacesOf(organization).value?.items ?? []) {
      if (matches(one.title, query)) {
        list.push({
          id: `space-${one.id}`,
          group: t("spaces"),
          text: one.title,
          space: one,
          href: address.space(one.id),
        });
      }
    }
    for (const one of sitesOf(organization).value?.items ?? []) {
      if (query && matches(one.title, query)) {
        list.push({
          id: `site-${one.id}`,
          group: t("sites"),
          text: one.title,
          icon: "globe",
          href: address.site(organization, one.id),
        });
      }
    }
    list.splice(6 + FAVORITES + RECENT);
  }
  if (organization && only !== ">" && only !== "@" && (query || only)) {
    const all = ["open", "draft"].flatMap((status) =>
      changeRequestsOf(organization, { status: status as "open" }).value?.items ?? []
    );
    for (const one of all) {
      if (!matches(`${one.subject} #${one.number}`, query) || only !== "#" && list.length > 9) continue;
      list.push({
        id: `change-${one.id}`,
        group: t("changeRequests"),
        text: one.subject || t("noSubject"),
        note: `#${one.number}`,
        icon: "pull",
        change: one,
        href: address.change(one.space, one.number),
      });
    }
  }
  if (only !== "#" && only !== "@") {
    for (const [at, one] of here.entries()) {
      if (matches(one.text!, query)) {
        list.push({
          id: `do-${at}`,
          group: t("commands"),
          text: one.text!,
          icon: one.icon ?? "bolt",
          keys: one.keys,
          run: one.run,
        });
      }
    }
    if (!only && query) {
      const places = placesOf({
        organization,
        space: scope,
        site,
        operator: session.user.value?.operator ?? false,
      });
      for (const [text, href, icon] of places) {
        if (matches(text, query)) {
          list.push({ id: `go-${href}`, group: t("goTo"), text, icon, href });
        }
      }
    }
  }
  if (organization && !only && query.includes(" ")) {
    list.push({
      id: "ask",
      group: t("ask"),
      text: query,
      icon: "question",
      run: () => askAbout(organization, query),
    });
  }
  return list;
}

/** Return the server's results. */
export async function searchResults({ organization, scope, only, query, change }: Query): Promise<Result[]> {
  if (only === "@") return await searchPeople(organization!, query);
  if (!scope) return await searchAll(organization!, query);
  const [inDraft, inSpace] = await Promise.all([
    searchDraft(scope, change, query),
    searchSpace(scope, query),
  ]);
  const drafted = new Set(inDraft.map(({ href }) => href?.split("/").at(-1)));
  return [...inDraft, ...inSpace.filter(({ href }) => !change || !drafted.has(href?.split("/").at(-1)))];
}

/** Search the text of the current change request, or of the person's newest draft. */
async function searchDraft(space: string, shown: number | undefined, query: string): Promise<Result[]> {
  const number = shown ?? (await findDraft(space))?.number;
  if (!number) return [];
  const { items } = await searchChangeRequestContent({ spaceId: space, changeRequestId: String(number) }, {
    query,
    limit: 5,
  });
  const base = { kind: "change" as const, number };
  return items.flatMap(present(space, query, base)).map((one) => ({
    ...one,
    id: `draft-${one.id}`,
    group: t("inNumber", { number }),
  }));
}

async function searchPeople(organization: string, wanted: string): Promise<Result[]> {
  const { items } = await listMembersInOrganizationById(
    { organizationId: organization },
    { search: wanted, limit: 8 } as never,
  );
  return items.map(({ user }) => ({
    id: `user-${user.id}`,
    group: t("people"),
    text: user.displayName,
    note: user.email,
    icon: "user",
    href: address.organization(organization, `members/people/${user.id}`),
  }));
}

function present(space: string, query: string, base?: Base) {
  return (page: Schemas["SearchPage"]): Result[] => {
    const section = page.sections[0];
    const one: Result = {
      id: `found-${page.id}`,
      group: t("pages"),
      text: page.title,
      note: page.ancestors.map((one) => one.title).join(" / "),
      icon: "file",
      href: address.page(space, page.path, base),
    };
    if (!section?.title || matches(page.title, query)) return [one];
    const [, anchor] = section.path.split("#");
    return [{
      ...one,
      id: `found-${section.id}`,
      href: `${one.href}${anchor ? `#${anchor}` : ""}`,
      text: section.title,
      note: t("titleHeading", { title: page.title }),
      icon: "heading",
    }];
  };
}

async function searchSpace(space: string, wanted: string): Promise<Result[]> {
  const { items } = await searchSpaceContent({ spaceId: space }, { query: wanted, limit: 8 });
  return items.flatMap(present(space, wanted));
}

async function searchAll(organization: string, wanted: string): Promise<Result[]> {
  const { items } = await searchOrganizationContent({ organizationId: organization }, {
    query: wanted,
    limit: 5,
  });
  return items.flatMap((space) => space.pages.slice(0, 5).flatMap(present(space.id, wanted)));
}
