/**
 * A rectangular selection of table cells, and its commands. Every cell is at one position in the grid
 * (`tablecommands.ts`); row 0 is the header. Commands are ordinary steps, cell by cell, so that other people's text
 * in other cells is unaffected.
 */
import { Fragment, type Node, type ResolvedPos, Slice } from "prosemirror-model";
import {
  type Command,
  type EditorState,
  NodeSelection,
  Selection,
  SelectionRange,
  TextSelection,
  type Transaction,
} from "prosemirror-state";
import type { Mappable } from "prosemirror-transform";
import type { EditorView } from "prosemirror-view";
import { schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";
import { cellPosition, columnsOf, headless, mergedCells } from "./grid.ts";
import {
  deleteColumns,
  deleteRows,
  insertColumn,
  insertRow,
  moveColumns,
  moveRows,
  spotOf,
} from "./tablecommands.ts";

/** The first and last row and column, inclusive. */
export interface Rectangle {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

interface Around {
  table: Node;
  position: number;
  row: number;
  column: number;
}

/** Return the table around a cell, given the position before the cell. */
function around($cell: ResolvedPos): Around | undefined {
  const depth = $cell.depth - 1;
  if (depth < 1 || $cell.node(depth).type !== schema.nodes.table || !$cell.nodeAfter) return undefined;
  return {
    table: $cell.node(depth),
    position: $cell.before(depth),
    row: $cell.index(depth),
    column: $cell.index(),
  };
}

/** Return a rectangle extended so that it contains every merged cell that it touches. */
function withMerged(table: Node, rectangle: Rectangle): Rectangle {
  const merged = mergedCells(table);
  if (!merged) return rectangle;
  const columns = table.firstChild!.childCount;
  let { top, bottom, left, right } = rectangle;
  for (let before = 0, now = 1; before !== now;) {
    before = now;
    for (const [number, { across, down }] of merged.spans) {
      const [row, column] = [Math.floor(number / columns), number % columns];
      const [last, end] = [row + down - 1, column + across - 1];
      if (row > bottom || last < top || column > right || end < left) continue;
      [top, bottom] = [Math.min(top, row), Math.max(bottom, last)];
      [left, right] = [Math.min(left, column), Math.max(right, end)];
    }
    now = (bottom - top + 1) * (right - left + 1);
  }
  return { top, bottom, left, right };
}

export class CellSelection extends Selection {
  readonly table: Node;
  /** The position of the table. */
  readonly position: number;
  readonly rectangle: Rectangle;

  constructor(readonly $first: ResolvedPos, readonly $last: ResolvedPos) {
    const [one, other] = [around($first)!, around($last)!];
    const { table, position } = one;
    const rectangle = withMerged(table, {
      top: Math.min(one.row, other.row),
      bottom: Math.max(one.row, other.row),
      left: Math.min(one.column, other.column),
      right: Math.max(one.column, other.column),
    });
    const { doc } = { doc: $first.node(0) };
    const ranges: SelectionRange[] = [];
    let at = position + 1;
    table.forEach((row, _, number) => {
      if (number >= rectangle.top && number <= rectangle.bottom) {
        let from = at + 1;
        for (let each = 0; each < rectangle.left; each++) from += row.child(each).nodeSize;
        let to = from;
        for (let each = rectangle.left; each <= rectangle.right; each++) to += row.child(each).nodeSize;
        ranges.push(new SelectionRange(doc.resolve(from), doc.resolve(to)));
      }
      at += row.nodeSize;
    });
    const inside = ($cell: ResolvedPos) => $cell.nodeAfter!.isLeaf ? $cell : doc.resolve($cell.pos + 1);
    super(inside($first), inside($last), ranges);
    this.table = table;
    this.position = position;
    this.rectangle = rectangle;
  }

  static create(doc: Node, first: number, last = first): CellSelection {
    return new CellSelection(doc.resolve(first), doc.resolve(last));
  }

  /** Return a rectangle of the table at a position; Shift extends it from `last`. */
  static of(doc: Node, position: number, { top, bottom, left, right }: Rectangle): CellSelection {
    const table = doc.nodeAt(position)!;
    return CellSelection.create(
      doc,
      cellPosition(table, position, top, left),
      cellPosition(table, position, bottom, right),
    );
  }

  get last(): { row: number; column: number } {
    return around(this.$last)!;
  }

  /** Return whether a text selection extends from the first cell to the last one. */
  holds($anchor: ResolvedPos, $head: ResolvedPos): boolean {
    const inside = ($cell: ResolvedPos, { pos }: ResolvedPos) =>
      pos >= $cell.pos && pos <= $cell.pos + $cell.nodeAfter!.nodeSize;
    return inside(this.$first, $anchor) && inside(this.$last, $head);
  }

  get count(): number {
    const { top, bottom, left, right } = this.rectangle;
    return (bottom - top + 1) * (right - left + 1);
  }

  get wholeRows(): boolean {
    return this.rectangle.left === 0 && this.rectangle.right === this.table.firstChild!.childCount - 1;
  }

  get wholeColumns(): boolean {
    const { top, bottom } = this.rectangle;
    return top <= (headless(this.table) ? 1 : 0) && bottom === this.table.childCount - 1;
  }

  /** Call a function with each selected cell and its position, starting with the last one, so that earlier positions
   * stay valid. */
  eachBackward(call: (cell: Node, position: number, row: number, column: number) => void): void {
    const { top, bottom, left, right } = this.rectangle;
    let end = this.position + this.table.nodeSize - 1;
    for (let number = this.table.childCount - 1; number >= top; number--) {
      const row = this.table.child(number);
      if (number <= bottom) {
        let at = end - 1;
        for (let column = row.childCount - 1; column >= left; column--) {
          const cell = row.child(column);
          at -= cell.nodeSize;
          if (column <= right) call(cell, at, number, column);
        }
      }
      end -= row.nodeSize;
    }
  }

  map(doc: Node, mapping: Mappable): Selection {
    const [first, last] = [this.$first, this.$last].map(($cell) => doc.resolve(mapping.map($cell.pos)));
    const [one, other] = [around(first!), around(last!)];
    if (one && other && one.position === other.position) return new CellSelection(first!, last!);
    return Selection.near(last!);
  }

  /** Return the selected cells as a table. Its header is empty if it isn't selected. */
  override content(): Slice {
    const { top, bottom, left, right } = this.rectangle;
    const rows: Node[] = [];
    this.table.forEach((row, _, number) => {
      if (number > 0 && (number < top || number > bottom)) return;
      const cells: Node[] = [];
      row.forEach((cell, __, column) => {
        if (column < left || column > right) return;
        cells.push(number || !top ? cell : cell.copy(Fragment.empty));
      });
      rows.push(row.copy(Fragment.from(cells)));
    });
    const view = { ...(this.table.attrs.data as Data).view as Data, hideHeader: top > 0 };
    const data = { ...(this.table.attrs.data as Data), view };
    const table = this.table.type.create({ ...this.table.attrs, key: null, data }, rows);
    return new Slice(Fragment.from(table), 0, 0);
  }

  /** Clear the cells if there is no content; otherwise, put the content into the first cell. */
  override replace(transaction: Transaction, content: Slice = Slice.empty): void {
    clearCells(transaction, this);
    if (!content.size) return;
    const { top, left } = this.rectangle;
    const at = cellPosition(transaction.doc.nodeAt(this.position)!, this.position, top, left);
    const cell = transaction.doc.nodeAt(at)!;
    const place = Selection.near(transaction.doc.resolve(at + 1));
    if (cell.isLeaf || !(place instanceof TextSelection)) return;
    transaction.setSelection(place).replaceSelection(content);
  }

  override replaceWith(transaction: Transaction, node: Node): void {
    this.replace(transaction, new Slice(Fragment.from(node), 0, 0));
  }

  eq(other: Selection): boolean {
    return other instanceof CellSelection && other.$first.pos === this.$first.pos &&
      other.$last.pos === this.$last.pos;
  }

  toJSON(): Record<string, unknown> {
    return { type: "cells", first: this.$first.pos, last: this.$last.pos };
  }

  static override fromJSON(doc: Node, { first, last }: { first: number; last: number }): Selection {
    return revived(doc, first, last);
  }

  override getBookmark(): Bookmark {
    return new Bookmark(this.$first.pos, this.$last.pos);
  }
}
CellSelection.prototype.visible = false;
Selection.jsonID("cells", CellSelection);

function revived(doc: Node, first: number, last: number): Selection {
  const [$first, $last] = [first, last].map((at) => doc.resolve(Math.min(at, doc.content.size)));
  const [one, other] = [around($first!), around($last!)];
  if (one && other && one.position === other.position) return new CellSelection($first!, $last!);
  return Selection.near($last!);
}

class Bookmark {
  constructor(private first: number, private last: number) {}

  map(mapping: Mappable): Bookmark {
    return new Bookmark(mapping.map(this.first), mapping.map(this.last));
  }

  resolve(doc: Node): Selection {
    return revived(doc, this.first, this.last);
  }
}

/** Delete the content of the selected cells. The cells stay, and so do the keys of their only paragraphs. */
function clearCells(transaction: Transaction, selection: CellSelection): void {
  const columns = columnsOf(selection.table);
  selection.eachBackward((cell, at, _, column) => {
    if (cell.type === schema.nodes.table_value) {
      const empty = columns[column]!.type === "checkbox" ? false : null;
      if (cell.attrs.value !== empty) transaction.setNodeAttribute(at, "value", empty);
    } else if (cell.type === schema.nodes.table_heading) {
      if (cell.content.size) transaction.delete(at + 1, at + 1 + cell.content.size);
    } else if (cell.childCount === 1 && cell.firstChild!.type === schema.nodes.paragraph) {
      if (cell.firstChild!.content.size) transaction.delete(at + 2, at + 2 + cell.firstChild!.content.size);
    } else {
      transaction.replaceWith(at + 1, at + 1 + cell.content.size, schema.nodes.paragraph!.create());
    }
  });
}

/** Return the selected cells, or the cell of the caret. */
export function cellsOf(state: EditorState): CellSelection | undefined {
  if (state.selection instanceof CellSelection) return state.selection;
  const spot = spotOf(state);
  if (spot === undefined) return undefined;
  return CellSelection.create(
    state.doc,
    cellPosition(spot.table, spot.position, spot.row, spot.column),
  );
}

/** Run a command only if cells are selected, because the same keys have another meaning in text. */
function chosen(run: (selection: CellSelection) => Command): Command {
  return (state, dispatch, view) =>
    state.selection instanceof CellSelection && run(state.selection)(state, dispatch, view);
}

function select(selection: (state: EditorState) => Selection | undefined): Command {
  return (state, dispatch) => {
    const found = selection(state);
    if (found === undefined) return false;
    dispatch?.(state.tr.setSelection(found).scrollIntoView());
    return true;
  };
}

export const selectRows: Command = select((state) => {
  const cells = cellsOf(state);
  return cells && CellSelection.of(state.doc, cells.position, {
    ...cells.rectangle,
    left: 0,
    right: cells.table.firstChild!.childCount - 1,
  });
});

export const selectColumns: Command = select((state) => {
  const cells = cellsOf(state);
  return cells && CellSelection.of(state.doc, cells.position, {
    ...cells.rectangle,
    top: headless(cells.table) ? 1 : 0,
    bottom: cells.table.childCount - 1,
  });
});

/** Select all cells. If they are already selected, let the page handle the key. */
export const selectCells: Command = select((state) => {
  const cells = cellsOf(state);
  if (cells === undefined || (cells === state.selection && cells.wholeRows && cells.wholeColumns)) {
    return undefined;
  }
  return CellSelection.of(state.doc, cells.position, {
    top: headless(cells.table) ? 1 : 0,
    bottom: cells.table.childCount - 1,
    left: 0,
    right: cells.table.firstChild!.childCount - 1,
  });
});

/** Select the cell that contains the caret; when repeated, select the table. */
const outward: Command = select((state) => {
  if (state.selection instanceof CellSelection) {
    return NodeSelection.create(state.doc, state.selection.position);
  }
  return state.selection instanceof TextSelection ? cellsOf(state) : undefined;
});

type Direction = "up" | "down" | "left" | "right";
const STEPS: Record<Direction, [number, number]> = {
  up: [-1, 0],
  down: [1, 0],
  left: [0, -1],
  right: [0, 1],
};

/** Return the adjacent cell; undefined at the edge of the table. */
function beside(
  table: Node,
  position: number,
  row: number,
  column: number,
  to: Direction,
): number | undefined {
  const [down, right] = STEPS[to];
  const [next, across] = [row + down, column + right];
  if (next < (headless(table) ? 1 : 0) || next >= table.childCount) return undefined;
  if (across < 0 || across >= table.child(next).childCount) return undefined;
  return cellPosition(table, position, next, across);
}

/** Return whether the caret is at the edge of a cell, so that its next move leaves the cell. */
function atEdge(state: EditorState, view: EditorView | undefined, to: Direction, spot: Around): boolean {
  const { $head } = state.selection;
  if (view && !view.endOfTextblock(to, state)) return false;
  const from = cellPosition(spot.table, spot.position, spot.row, spot.column);
  const cell = state.doc.nodeAt(from)!;
  if (cell.isTextblock) return true;
  const last = to === "down" || to === "right" ? cell.childCount - 1 : 0;
  return $head.index(state.doc.resolve(from).depth + 1) === last;
}

/** Return a command for Shift with an arrow key, which extends the selection from the cell that contains the caret. */
function extend(to: Direction): Command {
  return (state, dispatch, view) => {
    const { selection } = state;
    const towards = view && getComputedStyle(view.dom).direction === "rtl" ? mirrored(to) : to;
    const extended = selection instanceof CellSelection;
    const spot = extended
      ? { table: selection.table, position: selection.position, ...selection.last }
      : selection instanceof TextSelection
      ? spotOf(state)
      : undefined;
    if (spot === undefined || (!extended && !atEdge(state, view, to, spot))) return false;
    const next = beside(spot.table, spot.position, spot.row, spot.column, towards);
    if (next === undefined) return extended;
    const first = extended
      ? selection.$first.pos
      : cellPosition(spot.table, spot.position, spot.row, spot.column);
    dispatch?.(state.tr.setSelection(CellSelection.create(state.doc, first, next)).scrollIntoView());
    return true;
  };
}

/** Return a command for an arrow key, which selects the next cell, as in a spreadsheet. */
function go(to: Direction): Command {
  return chosen((selection) => (state, dispatch, view) => {
    const towards = view && getComputedStyle(view.dom).direction === "rtl" ? mirrored(to) : to;
    const { row, column } = selection.last;
    const next = beside(selection.table, selection.position, row, column, towards) ?? selection.$last.pos;
    dispatch?.(state.tr.setSelection(CellSelection.create(state.doc, next)).scrollIntoView());
    return true;
  });
}

function mirrored(to: Direction): Direction {
  return to === "left" ? "right" : to === "right" ? "left" : to;
}

/** Edit the last selected cell, with the caret at its end. If the cell has a value, open its field or toggle it. */
const enter: Command = chosen((selection) => (state, dispatch, view) => {
  const cell = selection.$last.nodeAfter!;
  const at = selection.$last.pos;
  if (cell.type === schema.nodes.table_value) {
    const element = view?.nodeDOM(at);
    const field = element instanceof HTMLElement ? element.querySelector<HTMLElement>("input, button") : null;
    if (field instanceof HTMLInputElement && field.type === "checkbox") field.click();
    else field?.focus();
    return true;
  }
  const end = Selection.findFrom(state.doc.resolve(at + cell.nodeSize - 1), -1, true);
  if (end === null) return true;
  dispatch?.(state.tr.setSelection(end).scrollIntoView());
  return true;
});

/** Delete the selected rows or columns, if whole rows or columns are selected. */
export const deleteChosenLines: Command = chosen((selection) => {
  const { top, bottom, left, right } = selection.rectangle;
  const { table, position } = selection;
  if (selection.wholeRows) return deleteRows(table, position, top, bottom);
  if (selection.wholeColumns) return deleteColumns(table, position, left, right);
  return () => true;
});

export const clearChosen: Command = (state, dispatch) => {
  const cells = cellsOf(state);
  if (cells === undefined) return false;
  if (dispatch) {
    const transaction = state.tr;
    clearCells(transaction, cells);
    dispatch(transaction.scrollIntoView());
  }
  return true;
};

/** Return a command that moves the selected rows, or the row that contains the caret. */
export function moveChosenRows(by: 1 | -1): Command {
  return (state, dispatch) => {
    const cells = cellsOf(state);
    return cells !== undefined &&
      moveRows(cells.table, cells.position, cells.rectangle.top, cells.rectangle.bottom, by)(state, dispatch);
  };
}

export function moveChosenColumns(by: 1 | -1): Command {
  return (state, dispatch) => {
    const cells = cellsOf(state);
    return cells !== undefined &&
      moveColumns(cells.table, cells.position, cells.rectangle.left, cells.rectangle.right, by)(
        state,
        dispatch,
      );
  };
}

const insertBeside = (to: Direction): Command =>
  chosen((selection) => {
    const { table, position, rectangle: { top, bottom, left, right } } = selection;
    switch (to) {
      case "up":
        return insertRow(table, position, Math.max(1, top), left);
      case "down":
        return insertRow(table, position, bottom + 1, left);
      case "left":
        return insertColumn(table, position, left, top);
      case "right":
        return insertColumn(table, position, right + 1, top);
    }
  });

export const cellKeys: Record<string, Command> = {
  Escape: outward,
  Enter: enter,
  F2: enter,
  "Shift-ArrowUp": extend("up"),
  "Shift-ArrowDown": extend("down"),
  "Shift-ArrowLeft": extend("left"),
  "Shift-ArrowRight": extend("right"),
  ArrowUp: go("up"),
  ArrowDown: go("down"),
  ArrowLeft: go("left"),
  ArrowRight: go("right"),
  "Shift-Space": chosen(() => selectRows),
  "Ctrl-Space": chosen(() => selectColumns),
  Backspace: chosen(() => clearChosen),
  Delete: chosen(() => clearChosen),
  "Mod-Backspace": deleteChosenLines,
  "Mod-Delete": deleteChosenLines,
  "Alt-ArrowUp": moveChosenRows(-1),
  "Alt-ArrowDown": moveChosenRows(1),
  "Alt-ArrowLeft": chosen(() => moveChosenColumns(-1)),
  "Alt-ArrowRight": chosen(() => moveChosenColumns(1)),
  "Alt-Shift-ArrowUp": insertBeside("up"),
  "Alt-Shift-ArrowDown": insertBeside("down"),
  "Alt-Shift-ArrowLeft": insertBeside("left"),
  "Alt-Shift-ArrowRight": insertBeside("right"),
};
