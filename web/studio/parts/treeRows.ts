/** The rows of a page tree: their positions, and the positions to which they can be moved. */
import { t } from "../../shared/words.ts";
import { type Mark, partOf, type Spot, TOP, type Tree } from "../state/pages.svelte.ts";
import type { TreePage } from "../state/parts.ts";

export interface Row {
  page: TreePage;
  level: number;
  parent: Row | undefined;
  at: number;
  of: number;
  top: number;
  height: number;
  open: boolean | undefined;
}

/** Consecutive pages that aren't loaded: a whole level, or one row for a level of unknown size. */
export interface Gap {
  within: string;
  from: number;
  top: number;
  height: number;
}

const touch = matchMedia("(pointer: coarse)").matches;
export const ROW = touch ? 40 : 30;
const GROUP = touch ? 50 : 40;

export const MARKS: Record<Mark, { text: string; icon?: "plus" | "right" | "minus" }> = {
  edited: { text: t("editedInline") },
  new: { text: t("newInline"), icon: "plus" },
  moved: { text: t("movedInline"), icon: "right" },
  deleted: { text: t("deletedInline"), icon: "minus" },
};

/** Return rows from top to bottom, with gaps for pages that aren't loaded. `opened`: the IDs of expanded rows. */
export function layOut(tree: Tree, opened: ReadonlySet<string>): { rows: Row[]; gaps: Gap[]; total: number } {
  const rows: Row[] = [];
  const gaps: Gap[] = [];
  let top = 0;
  const walk = (within: string, parent: Row | undefined, depth: number) => {
    const known = tree.levels.get(within) ?? { count: 1, pages: [] };
    for (let at = 0; at < known.count; at++) {
      const page = known.pages[at];
      if (!page) {
        const last = gaps.at(-1);
        if (last?.within === within && last.top + last.height === top) last.height += ROW;
        else gaps.push({ within, from: at, top, height: ROW });
        top += ROW;
        continue;
      }
      const group = page.type === "group" && depth === 1;
      const open = page.hasPages ? group || opened.has(page.id) : undefined;
      const height = group ? GROUP : ROW;
      const row: Row = { page, level: depth, parent, at, of: known.count, top, height, open };
      rows.push(row);
      top += height;
      if (open) walk(page.id, row, group ? depth : depth + 1);
    }
  };
  walk(TOP, undefined, 1);
  return { rows, gaps, total: top };
}

/** Return the index of the row at a vertical position, using binary search. */
export function indexAt(rows: Row[], y: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle]!;
    if (row.top + row.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return the part of a level at a vertical position in a gap. */
export const partAt = (gap: Gap, y: number) => partOf(gap.within, gap.from + Math.floor((y - gap.top) / ROW));

/** Return the position to which Alt-Shift and an arrow key move a row. */
export function neighborOf(tree: Tree, row: Row, key: string, rtl: boolean): Spot | undefined {
  const into = row.parent?.page.id ?? null;
  if (key === "ArrowUp") return row.at > 0 ? { into, at: row.at - 1 } : undefined;
  if (key === "ArrowDown") return row.at < row.of - 1 ? { into, at: row.at + 1 } : undefined;
  if (key === (rtl ? "ArrowRight" : "ArrowLeft")) {
    if (!row.parent) return undefined;
    return { into: row.parent.parent?.page.id ?? null, at: row.parent.at + 1 };
  }
  const before = tree.levels.get(into ?? TOP)?.pages[row.at - 1];
  if (!before || before.type === "link" || before.type === "computed") return undefined;
  return { into: before.id };
}

/** The target of a dragged row, and how it is shown. */
export interface Drop {
  to: Spot;
  y: number;
  indent: number;
  inside: boolean;
}

const isBelow = (row: Row | undefined, of: Row): boolean => !!row && (row === of || isBelow(row.parent, of));

/** Return the position in the tree that a dragged row will have when it is dropped. */
export function dropAt(rows: Row[], dragged: Row, x: number, at: number): Drop | undefined {
  const index = Math.min(indexAt(rows, at), rows.length - 1);
  const row = rows[index];
  if (!row || isBelow(row, dragged)) return undefined;
  const part = (at - row.top) / row.height;
  const indent = (row.level - 1) * 16;
  const into = row.parent?.page.id ?? null;
  const shift = (spot: Spot): Spot => {
    // The index is counted as if the moved page were already removed.
    const same = (dragged.parent?.page.id ?? null) === spot.into && dragged.at < (spot.at ?? 0);
    return same ? { into: spot.into, at: spot.at! - 1 } : spot;
  };
  const holds = row.page.type === "document" || row.page.type === "group";
  if (part > .3 && part < .7 && holds || row.page.type === "group" && part >= .3) {
    return {
      to: { into: row.page.id },
      y: row.top,
      indent,
      inside: true,
    };
  }
  if (part <= .5) return { to: shift({ into, at: row.at }), y: row.top, indent, inside: false };
  if (row.open) {
    return {
      to: shift({ into: row.page.id, at: 0 }),
      y: row.top + row.height,
      indent: indent + 16,
      inside: false,
    };
  }
  // Below the last page of a branch, the horizontal position determines the level.
  let place: Row = row;
  const depth = Math.max(1, Math.floor((x - 16) / 16) + 1);
  while (
    place.parent && place.at === place.of - 1 && place.level > depth &&
    rows[index + 1]?.parent !== place.parent
  ) {
    place = place.parent;
  }
  return {
    to: shift({ into: place.parent?.page.id ?? null, at: place.at + 1 }),
    y: row.top + row.height,
    indent: (place.level - 1) * 16,
    inside: false,
  };
}
