/** Merging and splitting cells of tables, and how merged cells are shown. */
import { Fragment, type Node } from "prosemirror-model";
import { type Command, Plugin, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";
import { childrenOf } from "../document/building.ts";
import { schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";
import { withKeys } from "./blockkeys.ts";
import { CellSelection } from "./cells.ts";
import { attributesOf, cellName, mergedCells, spanAttributes } from "./grid.ts";

const { table_heading, table_cell, paragraph } = schema.nodes;

function decorationsOf(table: Node, position: number): Decoration[] {
  const merged = mergedCells(table);
  if (!merged) return [];
  const columns = table.firstChild!.childCount;
  const found: Decoration[] = [];
  table.forEach((row, offset, number) =>
    row.forEach((cell, at, column) => {
      const attributes = spanAttributes(merged, number * columns + column);
      const from = position + 1 + offset + 1 + at;
      if (attributes) found.push(Decoration.node(from, from + cell.nodeSize, attributes));
    })
  );
  return found;
}

/** Return a plugin that shows merged cells as one. */
export function mergedCellsShown(): Plugin {
  return new Plugin({
    props: {
      decorations({ doc }) {
        const found: Decoration[] = [];
        doc.descendants((node, position) => {
          if (node.type !== schema.nodes.table) return !node.isTextblock;
          found.push(...decorationsOf(node, position));
          return false;
        });
        return found.length ? DecorationSet.create(doc, found) : null;
      },
    },
  });
}

/** Return the attributes of a table without the merges of these cells. */
function withoutSpans(table: Node, names: Iterable<string | null>): Record<string, string> {
  const left = { ...attributesOf(table) };
  for (const name of names) {
    delete left[`colspan-${name}`];
    delete left[`rowspan-${name}`];
  }
  return left;
}

function setAttributes(transaction: Transaction, position: number, attributes: Record<string, string>): void {
  const { attributes: _, ...others } = (transaction.doc.nodeAt(position)!.attrs.meta ?? {}) as Data;
  const meta = Object.keys(attributes).length ? { ...others, attributes } : others;
  transaction.setNodeAttribute(position, "meta", Object.keys(meta).length ? meta : null);
}

function namesIn(cells: CellSelection): (string | null)[] {
  const names: (string | null)[] = [];
  cells.eachBackward((cell) => names.push(cellName(cell)));
  return names;
}

/** Return an unused name for a cell. In a saved page, its name consists of its row and column. */
function freeName(table: Node, row: number, column: number): string {
  const taken = new Set((table.attrs.rest as { fragment?: string }[]).map((each) => each.fragment));
  table.forEach((line) => line.forEach((cell) => void taken.add(cellName(cell) ?? undefined)));
  const name = row ? `r${row}c${column + 1}` : `c${column + 1}`;
  let found = name;
  for (let number = 2; taken.has(found); number++) found = `${name}-${number}`;
  return found;
}

/** Merge the selected cells. Their content is combined in the first one. Only text cells can be merged. */
export const mergeCells: Command = ({ selection: cells, tr }, dispatch) => {
  if (!(cells instanceof CellSelection) || cells.count < 2) return false;
  const { table, position, rectangle: { top, bottom, left, right } } = cells;
  const types = new Set<unknown>();
  cells.eachBackward((cell) => types.add(cell.type));
  const headings = types.has(table_heading);
  if (types.size > 1 || (!headings && !types.has(table_cell))) return false;
  if ((table.attrs.data as { view: Data }).view.type === "cards") return false;
  if (!dispatch) return true;
  const name = cellName(table.child(top).child(left)) ?? freeName(table, top, left);
  const merged = withoutSpans(table, namesIn(cells));
  if (right > left) merged[`colspan-${name}`] = String(right - left + 1);
  if (bottom > top) merged[`rowspan-${name}`] = String(bottom - top + 1);
  let joined = Fragment.empty;
  cells.eachBackward((cell, at, row, column) => {
    const hasWords = cell.textContent.trim() !== "" || childrenOf(cell).some((block) => block.childCount > 1);
    const space = headings && hasWords && joined.size ? Fragment.from(schema.text(" ")) : Fragment.empty;
    if (hasWords) joined = cell.content.append(space).append(joined);
    const isFirst = row === top && column === left;
    const empty = headings ? Fragment.empty : withKeys(table_cell!.create(null, paragraph!.create())).content;
    const content = isFirst && joined.size ? joined : empty;
    const attrs = {
      ...cell.attrs,
      ...(headings ? {} : { absent: false }),
      ...(isFirst ? { [headings ? "id" : "fragment"]: name } : {}),
    };
    tr.replaceWith(at, at + cell.nodeSize, cell.type.create(attrs, content));
  });
  setAttributes(tr, position, merged);
  dispatch(tr.setSelection(CellSelection.of(tr.doc, position, cells.rectangle)).scrollIntoView());
  return true;
};

/** Split the merged cells in the selection. Their content stays in the first cell of each. */
export const splitCells: Command = ({ selection: cells, tr }, dispatch) => {
  if (!(cells instanceof CellSelection)) return false;
  const { table, position } = cells;
  const left = withoutSpans(table, namesIn(cells));
  if (Object.keys(left).length === Object.keys(attributesOf(table)).length) return false;
  setAttributes(tr, position, left);
  dispatch?.(tr);
  return true;
};
