/** The rows of a site's structure, and the positions to which each can be moved. */
import { type Group, isGroup, type Node, type Structure } from "../../state/site.svelte.ts";
import { findItem, type Item, nodesOf, type Place, siblingsOf } from "../../state/structure.svelte.ts";

export interface Row {
  item: Item;
  depth: number;
}

/** The target of a dragged item, and the row that shows the target. */
export interface Target {
  place: Place;
  id: string;
  below: boolean;
  depth: number;
}

export function rowsOf(structure: Structure): Row[] {
  if (structure.type === "siteSpaces") return structure.structure.map((item) => ({ item, depth: 0 }));
  const found: Row[] = [];
  const walk = (nodes: readonly Node[], depth: number) => {
    for (const node of nodes) {
      found.push({ item: node, depth });
      if (isGroup(node)) walk(node.children as Node[], depth + 1);
      else if (node.object === "site-section" && node.siteSpaces.length > 1) {
        for (const shown of node.siteSpaces) found.push({ item: shown, depth: depth + 1 });
      }
    }
  };
  walk(nodesOf(structure), 0);
  return found;
}

/** Return the target to which Alt-Shift and an arrow key move an item. */
export function neighborOf(
  structure: Structure,
  item: Item,
  key: "up" | "down" | "in" | "out",
): Place | undefined {
  const { all, group } = siblingsOf(structure, item);
  const at = all.findIndex((one) => one.id === item.id);
  if (key === "up") return all[at - 1] && { before: all[at - 1]! };
  if (key === "down") return all[at + 1] && { after: all[at + 1]! };
  if (item.object === "site-space") return undefined;
  if (key === "out") return group && { after: group };
  const above = all[at - 1];
  return above?.object === "site-section-group" ? endOf(above, item) : undefined;
}

/** Return the end of a group. */
export function endOf(group: Group, item: Item): Place {
  const last = (group.children as Node[]).filter((one) => one.id !== item.id).at(-1);
  return last ? { after: last } : { into: group };
}

export function isIn(item: Item, outer: Item): boolean {
  if (item.id === outer.id) return true;
  return outer.object === "site-section-group" && (outer.children as Node[]).some((one) => isIn(item, one));
}

/** Return the target of `dragged` if it is dropped in one half of a row. */
export function targetAt(
  structure: Structure,
  rows: Row[],
  { item, depth }: Row,
  dragged: Item,
  below: boolean,
): Target | undefined {
  if (dragged.object === "site-space") {
    if (item.object !== "site-space" || item.section !== dragged.section || item.id === dragged.id) {
      return undefined;
    }
    return { place: below ? { after: item } : { before: item }, id: item.id, below, depth };
  }
  if (item.object === "site-space") {
    const section = findItem(structure, item.section ?? "");
    if (!section) return undefined;
    const last = rows.findLast((row) => "section" in row.item && row.item.section === section.id);
    if (isIn(section, dragged)) return undefined;
    return { place: { after: section }, id: last!.item.id, below: true, depth: depth - 1 };
  }
  if (isIn(item, dragged)) return undefined;
  if (item.object === "site-section-group" && below) {
    const first = (item.children as Node[])[0];
    const place: Place = first && first.id !== dragged.id ? { before: first } : endOf(item, dragged);
    return { place, id: item.id, below, depth: depth + 1 };
  }
  if (item.object === "site-section" && below && item.siteSpaces.length > 1) {
    return { place: { after: item }, id: item.siteSpaces.at(-1)!.id, below: true, depth };
  }
  return { place: below ? { after: item } : { before: item }, id: item.id, below, depth };
}
