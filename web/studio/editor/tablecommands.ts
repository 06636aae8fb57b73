/** Commands for rows and columns of tables. Every cell has one position in the grid. */
import type { Node } from "prosemirror-model";
import { type Command, type EditorState, Selection, type Transaction } from "prosemirror-state";
import type { Transform } from "prosemirror-transform";
import { childrenOf } from "../document/building.ts";
import { longestRun } from "../document/comparing.ts";
import { safeUrl } from "../document/drawing.ts";
import { newKey, schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";
import { withoutKeys } from "./blocks.ts";
import { cellPosition, columnsOf, headless, mergedCells } from "./grid.ts";
import { withKeys } from "./blockkeys.ts";

/** The table around a position: the position of the table, and the row and column. The header is row 0. */
export interface Spot {
  table: Node;
  position: number;
  row: number;
  column: number;
}

export function spotOf({ selection }: EditorState): Spot | undefined {
  // If several cells are selected, the last one counts as the one with the caret.
  const $place = selection.$head;
  for (let depth = $place.depth; depth > 0; depth--) {
    if ($place.node(depth).type !== schema.nodes.table) continue;
    if ($place.depth < depth + 1 || $place.index(depth + 1) >= $place.node(depth + 1).childCount) {
      return undefined;
    }
    return {
      table: $place.node(depth),
      position: $place.before(depth),
      row: $place.index(depth),
      column: $place.index(depth + 1),
    };
  }
  return undefined;
}

/** Return the heading of a new text column. */
function newHeading(title?: string): Node {
  return schema.nodes.table_heading!.create({ col: newKey() }, title ? schema.text(title) : null);
}

/** Return an empty cell below a heading. */
function newCell({ attrs: { col, column } }: Node): Node {
  return column.type === "text"
    ? withKeys(schema.nodes.table_cell!.create({ col }, schema.nodes.paragraph!.create()))
    : schema.nodes.table_value!.create({ value: column.type === "checkbox" ? false : null, col });
}

/** Return a table with this number of text columns, these titles, and rows below the header. */
export function newTable(columns: number, rows: number, titles: string[] = []): Node {
  const { table, table_head, table_row } = schema.nodes;
  const heads = Array.from({ length: columns }, (_, number) => newHeading(titles[number]));
  const body = Array.from({ length: rows }, () => table_row!.create(null, heads.map(newCell)));
  return table!.create({ data: { view: { type: "grid", hideHeader: false } } }, [
    table_head!.create(null, heads),
    ...body,
  ]);
}

function into(transaction: Transaction, at: number): Transaction {
  return transaction.setSelection(Selection.near(transaction.doc.resolve(at))).scrollIntoView();
}

export function addRow(after: boolean): Command {
  return (state, dispatch) => {
    const spot = spotOf(state);
    if (spot === undefined) return false;
    const number = Math.max(1, spot.row + (after ? 1 : 0));
    return insertRow(spot.table, spot.position, number, spot.column)(state, dispatch);
  };
}

export function insertRow(table: Node, position: number, number: number, column = 0): Command {
  return (state, dispatch) => {
    if (dispatch) {
      const row = schema.nodes.table_row!.create(null, childrenOf(table.firstChild!).map(newCell));
      let at = position + 1;
      for (let each = 0; each < number; each++) at += table.child(each).nodeSize;
      const transaction = state.tr.insert(at, row);
      dispatch(
        into(transaction, cellPosition(transaction.doc.nodeAt(position)!, position, number, column) + 1),
      );
    }
    return true;
  };
}

/** Call a function with each row and its position, starting with the last one, so that earlier positions stay valid. */
function eachRowBackward(
  table: Node,
  position: number,
  call: (row: Node, at: number, number: number) => void,
): void {
  let at = position + table.nodeSize - 1;
  for (let number = table.childCount - 1; number >= 0; number--) {
    const row = table.child(number);
    at -= row.nodeSize;
    call(row, at, number);
  }
}

/** Return the position of a child of a row. */
function childPosition(row: Node, at: number, child: number): number {
  let found = at + 1;
  for (let number = 0; number < child; number++) found += row.child(number).nodeSize;
  return found;
}

/**
 * Insert cells at an index of each row. The heading comes first: if the change is sent in several batches, the server
 * knows the column of all of these cells.
 */
function insertInRows(
  transaction: Transform,
  table: Node,
  position: number,
  index: number,
  cellsOf: (row: number) => Node[],
): void {
  let at = position + 1;
  table.forEach((row, _, number) => {
    if (!number || row.childCount >= index) {
      const cells = cellsOf(number);
      transaction.insert(childPosition(row, at, Math.min(index, row.childCount)), cells);
      at += cells.reduce((sum, cell) => sum + cell.nodeSize, 0);
    }
    at += row.nodeSize;
  });
}

export function insertColumn(table: Node, position: number, at: number, row = 0): Command {
  return (state, dispatch) => {
    if (dispatch) {
      const heading = newHeading();
      const transaction = state.tr;
      insertInRows(transaction, table, position, at, (number) => [number ? newCell(heading) : heading]);
      dispatch(into(transaction, cellPosition(transaction.doc.nodeAt(position)!, position, row, at) + 1));
    }
    return true;
  };
}

/** Delete columns; deleting the last one deletes the table. */
export function deleteColumns(table: Node, position: number, first: number, last: number): Command {
  return (state, dispatch) => {
    if (last - first + 1 >= table.firstChild!.childCount) {
      return deleteTable(table, position)(state, dispatch);
    }
    if (dispatch) {
      const transaction = state.tr;
      eachRowBackward(table, position, (row, start) => {
        const from = childPosition(row, start, Math.min(first, row.childCount));
        const to = childPosition(row, start, Math.min(last + 1, row.childCount));
        if (from < to) transaction.delete(from, to);
      });
      const now = transaction.doc.nodeAt(position)!;
      const beside = Math.min(first, now.firstChild!.childCount - 1);
      dispatch(into(transaction, cellPosition(now, position, headless(now) ? 1 : 0, beside) + 1));
    }
    return true;
  };
}

/** Delete rows below the header. The header is never deleted, because its titles name the columns. */
export function deleteRows(table: Node, position: number, first: number, last: number): Command {
  return (state, dispatch) => {
    const from = Math.max(1, first);
    if (last < from) return false;
    if (headless(table) && last - from + 1 >= table.childCount - 1) {
      return deleteTable(table, position)(state, dispatch);
    }
    if (dispatch) {
      const start = cellPosition(table, position, from, 0) - 1;
      const end = cellPosition(table, position, last, 0) - 1 + table.child(last).nodeSize;
      const transaction = state.tr.delete(start, end);
      const now = transaction.doc.nodeAt(position)!;
      dispatch(into(transaction, cellPosition(now, position, Math.min(from, now.childCount - 1), 0) + 1));
    }
    return true;
  };
}

function deleteTable(table: Node, position: number): Command {
  return (state, dispatch) => {
    if (dispatch) {
      const transaction = state.tr;
      const end = position + table.nodeSize;
      const alone = state.doc.resolve(position).parent.childCount === 1;
      if (alone) transaction.replaceWith(position, end, schema.nodes.paragraph!.create());
      else transaction.delete(position, end);
      dispatch(into(transaction, Math.min(position, transaction.doc.content.size)));
    }
    return true;
  };
}

/**
 * Move columns past their neighbor. In each row, the neighbor moves to their other side, so the selection stays. It is
 * deleted first, so that the change is recognized as a move, and other people's changes in the cell go with it.
 */
export function moveColumns(
  table: Node,
  position: number,
  first: number,
  last: number,
  by: 1 | -1,
): Command {
  return (state, dispatch) => {
    const neighbor = by < 0 ? first - 1 : last + 1;
    if (neighbor < 0 || neighbor >= table.firstChild!.childCount) return false;
    if (dispatch) {
      const transaction = state.tr;
      eachRowBackward(table, position, (row, start) => {
        if (row.childCount <= Math.max(neighbor, last)) return;
        const cell = row.child(neighbor);
        const from = childPosition(row, start, neighbor);
        const to = by < 0
          ? childPosition(row, start, last + 1) - cell.nodeSize
          : childPosition(row, start, first);
        transaction.delete(from, from + cell.nodeSize).insert(to, cell);
      });
      dispatch(transaction.scrollIntoView());
    }
    return true;
  };
}

/** Move rows past their neighbor, in the same way as columns. The header isn't a neighbor. */
export function moveRows(table: Node, position: number, first: number, last: number, by: 1 | -1): Command {
  return (state, dispatch) => {
    const neighbor = by < 0 ? first - 1 : last + 1;
    if (first < 1 || neighbor < 1 || neighbor >= table.childCount) return false;
    if (dispatch) {
      const row = table.child(neighbor);
      const from = cellPosition(table, position, neighbor, 0) - 1;
      const to = by < 0
        ? cellPosition(table, position, last, 0) - 1 + table.child(last).nodeSize - row.nodeSize
        : cellPosition(table, position, first, 0) - 1;
      dispatch(state.tr.delete(from, from + row.nodeSize).insert(to, row).scrollIntoView());
    }
    return true;
  };
}

/** Insert a copy of rows below them, or a copy of columns after them. */
export function duplicateRows(table: Node, position: number, first: number, last: number): Command {
  return (state, dispatch) => {
    const from = Math.max(1, first);
    if (last < from) return false;
    const copies = childrenOf(table).slice(from, last + 1).map((row) => withKeys(withoutKeys(asNew(row))));
    const at = cellPosition(table, position, last, 0) - 1 + table.child(last).nodeSize;
    dispatch?.(state.tr.insert(at, copies).scrollIntoView());
    return true;
  };
}

export function duplicateColumns(table: Node, position: number, first: number, last: number): Command {
  return (state, dispatch) => {
    if (dispatch) {
      const transaction = state.tr;
      const keys = new Map(childrenOf(table.firstChild!).map(({ attrs }) => [attrs.col, newKey()]));
      insertInRows(
        transaction,
        table,
        position,
        last + 1,
        (row) =>
          childrenOf(table.child(row)).slice(first, last + 1).map((cell) => {
            const { type, attrs, content } = withKeys(withoutKeys(asNew(cell)));
            return type.create({ ...attrs, col: keys.get(attrs.col) ?? null }, content);
          }),
      );
      dispatch(transaction.scrollIntoView());
    }
    return true;
  };
}

/** Return a part of a table without its ID in the file. */
function asNew(part: Node): Node {
  const { type, attrs } = part;
  if (type === schema.nodes.table_row) {
    return type.create({ ...attrs, id: null, order: null }, childrenOf(part).map(asNew));
  }
  if (type === schema.nodes.table_heading) return type.create({ ...attrs, id: null }, part.content);
  return type === schema.nodes.table_cell ? type.create({ ...attrs, fragment: null }, part.content) : part;
}

/** Return the text of a cell, for sorting and for other apps. */
export function textOfCell(cell: Node): string {
  if (cell.type !== schema.nodes.table_value) return cell.textBetween(0, cell.content.size, "\n", "\n");
  const text = (value: unknown): string => {
    if (value === null || value === undefined) return "";
    if (Array.isArray(value)) return value.map(text).filter(Boolean).join(", ");
    if (typeof value !== "object") return String(value);
    const { url, ref } = value as Data;
    return typeof url === "string" ? url : ref === undefined ? "" : text(ref);
  };
  return text(cell.attrs.value);
}

/** Put adjacent nodes at a position into another order. Each moved node is deleted and inserted again, like in `moveRows`. */
function reorder(
  transaction: Transaction,
  start: number,
  before: readonly Node[],
  after: readonly Node[],
): void {
  const numbers = new Map(before.map((node, number) => [node, number]));
  const staying = new Set(longestRun(after.map((node) => numbers.get(node)!)).map((at) => after[at]!));
  const order = [...before];
  const positionOf = (number: number): number =>
    order.slice(0, number).reduce((sum, node) => sum + node.nodeSize, start);
  after.forEach((node, at) => {
    if (staying.has(node)) return;
    const number = order.indexOf(node);
    const from = positionOf(number);
    transaction.delete(from, from + node.nodeSize);
    order.splice(number, 1);
    const target = at ? order.indexOf(after[at - 1]!) + 1 : 0;
    transaction.insert(positionOf(target), node);
    order.splice(target, 0, node);
  });
}

/** Sort the rows by a column: numbers by value, empty cells last. */
export function sortRows(table: Node, position: number, column: number, descending: boolean): Command {
  return (state, dispatch) => {
    const rows = childrenOf(table).slice(1);
    const language = document.documentElement.lang || undefined;
    const { compare } = new Intl.Collator(language, { numeric: true, sensitivity: "base" });
    const said = new Map(
      rows.map((row) => [row, row.maybeChild(column) ? textOfCell(row.child(column)).trim() : ""]),
    );
    const sorted = rows.toSorted((one, other) => {
      const [left, right] = [said.get(one)!, said.get(other)!];
      if (!left || !right) return Number(!left) - Number(!right);
      return descending ? compare(right, left) : compare(left, right);
    });
    if (sorted.every((row, at) => row === rows[at])) return true;
    if (dispatch) {
      const transaction = state.tr;
      reorder(transaction, position + 1 + table.firstChild!.nodeSize, rows, sorted);
      dispatch(transaction.scrollIntoView());
    }
    return true;
  };
}

/** Return the value of a cell with this text in a column of this type. */
export function valueOf(type: string, text: string): unknown {
  if (type === "checkbox") return /^(x|yes|true|✓|✅)$/i.test(text);
  if (text === "") return null;
  if (type === "number" || type === "rating") return Number.isFinite(Number(text)) ? Number(text) : null;
  if (type === "content-ref" || type === "image") {
    const url = safeUrl(text);
    return url ? { kind: "url", url } : null;
  }
  return [text];
}

/** Return the options of a column, extended with those of these texts that are missing. */
function withOptions(column: Data, added: Iterable<string>): Data {
  const options = (column.options ?? []) as Data[];
  const known = new Set(options.map((each) => each.value));
  const more = [...new Set(added)].filter((each) => !known.has(each));
  return more.length
    ? {
      ...column,
      options: [...options, ...more.map((value) => ({ value, label: value, color: "default" }))],
    }
    : column;
}

function paragraphOf(text: string): Node {
  const lines = text.split("\n");
  return schema.nodes.paragraph!.create(
    null,
    lines.flatMap((line, at) => [
      ...(at ? [schema.nodes.hard_break!.create()] : []),
      ...(line ? [schema.text(line)] : []),
    ]),
  );
}

/** Change the type of a column. Cell values are kept if the new type allows them. */
export function setColumnType(table: Node, position: number, at: number, type: string): Command {
  return (state, dispatch) => {
    const column: Data = type === "text" ? { type, textAlignment: "left" } : { type };
    if (type === "rating") column.max = 5;
    if (type === "select") column.options = [];
    const options: string[] = [];
    const { col } = table.firstChild!.child(at).attrs;
    const changed = (cell: Node): Node => {
      const text = textOfCell(cell).trim();
      if (type === "text") {
        if (cell.type === schema.nodes.table_cell) return cell;
        const said = typeof cell.attrs.value === "boolean" ? "" : text;
        return schema.nodes.table_cell!.create({ col }, paragraphOf(said));
      }
      const value = valueOf(type, text);
      if (type === "select" && value !== null) options.push(text);
      return schema.nodes.table_value!.create({ value, col });
    };
    if (dispatch) {
      const transaction = state.tr;
      eachRowBackward(table, position, (row, start, number) => {
        const cell = number ? row.maybeChild(at) : null;
        if (!cell) return;
        const place = childPosition(row, start, at);
        const now = changed(cell);
        if (now !== cell) transaction.replaceWith(place, place + cell.nodeSize, now);
      });
      const heading = cellPosition(table, position, 0, at);
      dispatch(transaction.setNodeAttribute(heading, "column", withOptions(column, options)));
    }
    return true;
  };
}

/** A pasted cell: its text, and its blocks if it is more than text. */
export interface PastedCell {
  text: string;
  blocks?: readonly Node[];
}

/** The maximum number of rows and columns in a paste, and of rows in a step, which is sent as a whole. */
const MOST_ROWS = 5000;
const MOST_COLUMNS = 200;
const ROWS_OF_STEP = 100;

/**
 * Write cells into a table, starting at a position, replacing existing cells and adding missing rows and columns.
 * Returns the position of the last cell.
 */
export function pasteCells(
  transaction: Transform,
  position: number,
  spot: { row: number; column: number },
  pasted: PastedCell[][],
): { row: number; column: number } {
  const cells = pasted.slice(0, MOST_ROWS).map((row) => row.slice(0, MOST_COLUMNS));
  const across = Math.max(...cells.map((row) => row.length));
  const table = transaction.doc.nodeAt(position)!;
  const missing = spot.column + across - table.firstChild!.childCount;
  if (missing > 0) {
    const headings = Array.from({ length: missing }, () => newHeading());
    insertInRows(
      transaction,
      table,
      position,
      table.firstChild!.childCount,
      (row) => row ? headings.map(newCell) : headings,
    );
  }
  const grown = transaction.doc.nodeAt(position)!;
  const headings = childrenOf(grown.firstChild!);
  const columns = columnsOf(grown);
  const options = new Map<number, string[]>();
  const filled = (column: number, { text, blocks }: PastedCell): Node => {
    const { type } = columns[column]!;
    const { col } = headings[column]!.attrs;
    if (type === "text") {
      const content = blocks?.length ? blocks.map(withoutKeys) : [paragraphOf(text)];
      return schema.nodes.table_cell!.create({ col }, content);
    }
    const value = valueOf(type, text.trim());
    if (type === "select" && value !== null) options.set(column, [...options.get(column) ?? [], text.trim()]);
    return schema.nodes.table_value!.create({ value, col });
  };
  // New rows are inserted in large steps, existing ones cell by cell, last one first.
  const known = grown.childCount - spot.row;
  const added = cells.slice(known).map((row) =>
    withKeys(schema.nodes.table_row!.create(
      null,
      headings.map((heading, at) => {
        const cell = row[at - spot.column];
        return cell ? filled(at, cell) : newCell(heading);
      }),
    ))
  );
  const end = position + grown.nodeSize - 1;
  for (
    let first = Math.floor((added.length - 1) / ROWS_OF_STEP) * ROWS_OF_STEP;
    first >= 0;
    first -= ROWS_OF_STEP
  ) {
    transaction.insert(end, added.slice(first, first + ROWS_OF_STEP));
  }
  eachRowBackward(grown, position, (row, at, number) => {
    const given = cells[number - spot.row];
    if (!given) return;
    for (let each = given.length - 1; each >= 0; each--) {
      const column = spot.column + each;
      const cell = row.maybeChild(column);
      if (!cell) continue;
      const from = childPosition(row, at, column);
      if (cell.type === schema.nodes.table_heading) {
        const title = given[each]!.text.replace(/\s+/g, " ").trim();
        const content = title ? [schema.text(title)] : [];
        transaction.replaceWith(from + 1, from + 1 + cell.content.size, content);
      } else if (cell.type === schema.nodes.table_value) {
        transaction.setNodeAttribute(from, "value", filled(column, given[each]!).attrs.value);
      } else {
        transaction.replaceWith(
          from + 1,
          from + 1 + cell.content.size,
          withKeys(filled(column, given[each]!)).content,
        );
      }
    }
  });
  const heads = transaction.doc.nodeAt(position)!;
  for (const [column, more] of options) {
    const heading = cellPosition(heads, position, 0, column);
    transaction.setNodeAttribute(heading, "column", withOptions(columns[column]!, more));
  }
  return { row: spot.row + cells.length - 1, column: spot.column + across - 1 };
}

export function setColumn(position: number, fields: Data): Command {
  return (state, dispatch) => {
    const heading = state.doc.nodeAt(position);
    if (heading === null) return false;
    dispatch?.(
      state.tr.setNodeAttribute(position, "column", { ...(heading.attrs.column as Data), ...fields }),
    );
    return true;
  };
}

/** Return a command that moves to the next or previous cell. After the last cell, it adds a row. */
export function goToCell(by: 1 | -1): Command {
  return (state, dispatch, view) => {
    const spot = spotOf(state);
    if (spot === undefined) return false;
    const width = spot.table.firstChild!.childCount;
    const hidden = headless(spot.table) ? 1 : 0;
    const covered = mergedCells(spot.table)?.covered;
    for (let number = spot.row * width + spot.column + by;; number += by) {
      const row = Math.floor(number / width);
      if (row < hidden) return true;
      if (row >= spot.table.childCount) {
        return insertRow(spot.table, spot.position, spot.table.childCount)(state, dispatch, view);
      }
      const at = cellPosition(spot.table, spot.position, row, number % width);
      const cell = state.doc.nodeAt(at)!;
      if (cell.type === schema.nodes.table_value || covered?.has(number)) continue;
      dispatch?.(into(state.tr, at + 1));
      return true;
    }
  };
}
