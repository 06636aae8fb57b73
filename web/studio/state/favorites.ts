/** The person's favorites: spaces, pages, and sites in the order that they chose. */
import { askAll, type Schemas } from "../../shared/client.ts";
import { t } from "../../shared/words.ts";
import { addFavorite, listFavorites, moveFavorite, removeFavorite } from "../api/favorites.ts";
import type { MenuItem } from "../parts/Menu.svelte";
import { notices } from "./notices.svelte.ts";
import { resource } from "./resource.svelte.ts";
import { spacesOf } from "./session.svelte.ts";

export type Favorite = Schemas["Favorite"];
export type FavoriteTarget = { space: string; page?: string } | { site: string };

const all = () => resource("favorites", () => askAll((query) => listFavorites({}, query)));

/** Return the favorites in their order; empty until they are loaded. `organization`: if set, only favorites in this
 * organization are returned. */
export const favoritesOf = (organization?: string): Favorite[] =>
  (all().value?.items ?? []).filter((one) => !organization || one.organization === organization);

/** Return what distinguishes a favorite from others with the same title: its kind, or the space of a page. Usually
 * empty. */
export function placeOf(one: Favorite): string {
  if (!favoritesOf().some((other) => other.id !== one.id && other.title === one.title)) return "";
  if (one.kind !== "page") return one.kind === "site" ? t("site") : t("space");
  return spacesOf(one.organization).value?.items.find(({ id }) => id === one.space)?.title ?? "";
}

function favoriteOf(target: FavoriteTarget): Favorite | undefined {
  return favoritesOf().find((one) =>
    "site" in target ? one.site === target.site : one.space === target.space && one.page === target.page
  );
}

export const isFavorite = (target: FavoriteTarget): boolean => favoriteOf(target) !== undefined;

async function add(target: FavoriteTarget, before?: string): Promise<void> {
  await addFavorite({}, { ...target, ...(before ? { before } : {}) });
  await all().refresh({ force: true });
}

async function remove(favorite: Favorite): Promise<void> {
  const restore = all().guess(({ items, ...more }) => ({
    ...more,
    items: items.filter((one) => one.id !== favorite.id),
  }));
  try {
    await removeFavorite({ favoriteId: favorite.id });
  } catch (problem) {
    restore();
    throw problem;
  }
}

/** Add or remove a favorite, with an undo that restores its position. */
export async function toggleFavorite(target: FavoriteTarget): Promise<void> {
  await notices.attempt(async () => {
    const present = favoriteOf(target);
    if (!present) {
      await add(target);
      notices.say(t("addedToFavorites"), {
        undo: () => {
          const added = favoriteOf(target);
          return added && remove(added);
        },
      });
      return;
    }
    const items = favoritesOf();
    const next = items[items.findIndex((one) => one.id === present.id) + 1];
    await remove(present);
    notices.say(t("removedFromFavorites"), { undo: () => add(target, next?.id) });
  });
}

/** Move a favorite before another one, or to the end. */
export async function placeFavorite(favorite: Favorite, before: string | undefined): Promise<void> {
  const restore = all().guess(({ items, ...more }) => {
    const others = items.filter((one) => one.id !== favorite.id);
    const at = before ? others.findIndex((one) => one.id === before) : others.length;
    return { ...more, items: others.toSpliced(at, 0, favorite) };
  });
  try {
    await moveFavorite({ favoriteId: favorite.id }, { before: before ?? null });
  } catch (problem) {
    restore();
    notices.fail(problem);
  }
}

/** Return the menu item that adds or removes a favorite. */
export function favoriteEntry(target: FavoriteTarget): MenuItem {
  const present = isFavorite(target);
  const ofSpace = "space" in target && !target.page;
  return {
    text: ofSpace
      ? present ? t("removeSpaceFromFavorites") : t("addSpaceToFavorites")
      : present
      ? t("removeFromFavorites")
      : t("addToFavorites"),
    icon: present ? "starred" : "star",
    run: () => toggleFavorite(target),
  };
}
