/** The actions for a row of a site's structure. */
import { t } from "../../../shared/words.ts";
import type { MenuEntry } from "../../parts/Menu.svelte";
import type { Structure } from "../../state/site.svelte.ts";
import { groupsOf, type Item, type Place, type StructureEditor } from "../../state/structure.svelte.ts";
import { endOf, isIn, neighborOf } from "./structuring.ts";

interface Ways {
  editor: StructureEditor;
  rename: () => unknown;
  move: (to: Place) => unknown;
  /** Called to add a variant. */
  add: () => unknown;
  remove: () => unknown;
  /** Whether the person can change what visitors see. */
  publishes: boolean;
}

export function structureMenu(
  structure: Structure,
  item: Item,
  { editor, rename, move, add, remove, publishes }: Ways,
): MenuEntry[] {
  const entries: MenuEntry[] = [{
    text: item.object === "site-space" ? t("edit") : t("rename"),
    icon: "edit",
    keys: "f2",
    run: rename,
  }];
  if (publishes && (item.object === "site-section" || item.object === "site-space") && !item.default) {
    entries.push({ text: t("setAsDefault"), icon: "star", run: () => editor.begin(item) });
  }
  if (publishes) {
    entries.push({
      text: item.draft ? t("showToVisitors") : t("convertToDraft"),
      icon: item.draft ? "eye" : "eye-slash",
      run: () => editor.update(item, { draft: !item.draft }).catch(rename),
    });
  }
  if (item.object === "site-section") entries.push({ text: t("addVariant"), icon: "plus", run: add });
  if (publishes && item.object === "site-space") {
    entries.push({ text: t("duplicateAsDraft"), icon: "copy", run: () => editor.duplicate(item) });
  }
  const ways = [
    ["up", t("moveUp"), "up", "alt+shift+arrowup"],
    ["down", t("moveDown"), "down", "alt+shift+arrowdown"],
    ["out", t("moveOutOfGroup"), "reply", ""],
  ] as const;
  const moves = ways.flatMap(([key, text, icon, keys]): MenuEntry[] => {
    const to = neighborOf(structure, item, key);
    return to ? [{ text, icon, keys: keys || undefined, run: () => move(to) }] : [];
  });
  if (item.object !== "site-space") {
    for (const group of groupsOf(structure)) {
      if (group.id === item.sectionGroup || isIn(group, item)) continue;
      moves.push({
        text: t("moveIntoTitle", { title: group.title }),
        icon: "folder",
        run: () => move(endOf(group, item)),
      });
    }
  }
  if (moves.length) entries.push("line", ...moves);
  entries.push("line", {
    text: item.object === "site-section-group" ? t("ungroup") : t("removeFromSite"),
    icon: "trash",
    danger: true,
    run: remove,
  });
  return entries;
}
