/** Commands for rows and columns of tables. Every cell is one place of the grid. */
import type { Node } from "prosemirror-model";
import { type Command, type EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { childrenOf } from "../document/convert.ts";
import { safeUrl } from "../document/drawing.ts";
import { schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";

export interface Column extends Data {
  type: string;
}

/** Return the table around a position: its position, and the row and column. The header is row 0. */
export interface Spot {
  table: Node;
  position: number;
  row: number;
  column: number;
}

export function spotOf(state: EditorState): Spot | undefined {
  const { $from } = state.selection;
  for (let depth = $from.depth; depth > 0; depth--) {
    if ($from.node(depth).type !== schema.nodes.table) continue;
    if ($from.depth < depth + 2) return undefined;
    return {
      table: $from.node(depth),
      position: $from.before(depth),
      row: $from.index(depth),
      column: $from.index(depth + 1),
    };
  }
  return undefined;
}

export function columnsOf(table: Node): Column[] {
  return childrenOf(table.firstChild!).map((heading) => heading.attrs.column as Column);
}

/** Return the position where a cell starts. */
export function cellPosition(table: Node, position: number, row: number, column: number): number {
  let at = position + 1;
  for (let number = 0; number < row; number++) at += table.child(number).nodeSize;
  at++;
  for (let number = 0; number < column; number++) at += table.child(row).child(number).nodeSize;
  return at;
}

function newCell(column: Column): Node {
  return column.type === "text"
    ? schema.nodes.table_cell!.create(null, schema.nodes.paragraph!.create())
    : schema.nodes.table_value!.create({ value: column.type === "checkbox" ? false : null });
}

/** Return a table with this number of text columns, these titles, and rows below the header. */
export function newTable(columns: number, rows: number, titles: string[] = []): Node {
  const { table, table_head, table_heading, table_row } = schema.nodes;
  const heads = Array.from(
    { length: columns },
    (_, number) => table_heading!.create(null, titles[number] ? schema.text(titles[number]) : null),
  );
  const body = Array.from(
    { length: rows },
    () => table_row!.create(null, heads.map((head) => newCell(head.attrs.column as Column))),
  );
  return table!.create({ data: { view: { type: "grid", hideHeader: false } } }, [
    table_head!.create(null, heads),
    ...body,
  ]);
}

function into(transaction: Transaction, at: number): Transaction {
  return transaction.setSelection(TextSelection.near(transaction.doc.resolve(at))).scrollIntoView();
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
      const row = schema.nodes.table_row!.create(null, columnsOf(table).map(newCell));
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

/** Rewrite a table row by row: `change` returns the cells of a row. */
function rewrite(
  state: EditorState,
  table: Node,
  position: number,
  change: (cells: Node[], row: number) => Node[],
): Transaction {
  const transaction = state.tr;
  let at = position + 1;
  table.forEach((row, _, number) => {
    const from = transaction.mapping.map(at);
    const next = row.type.create(row.attrs, change(childrenOf(row), number));
    transaction.replaceWith(from, from + row.nodeSize, next);
    at += row.nodeSize;
  });
  return transaction;
}

export function insertColumn(table: Node, position: number, at: number, row = 0): Command {
  return (state, dispatch) => {
    if (dispatch) {
      const heading = schema.nodes.table_heading!.create();
      const transaction = rewrite(
        state,
        table,
        position,
        (cells, number) => cells.toSpliced(at, 0, number ? newCell(heading.attrs.column as Column) : heading),
      );
      dispatch(into(transaction, cellPosition(transaction.doc.nodeAt(position)!, position, row, at) + 1));
    }
    return true;
  };
}

export function deleteColumn(table: Node, position: number, at: number): Command {
  return (state, dispatch) => {
    if (table.firstChild!.childCount === 1) {
      dispatch?.(state.tr.delete(position, position + table.nodeSize));
      return true;
    }
    dispatch?.(rewrite(state, table, position, (cells) => cells.toSpliced(at, 1)));
    return true;
  };
}

export function moveColumn(table: Node, position: number, at: number, to: number): Command {
  return (state, dispatch) => {
    if (to < 0 || to >= table.firstChild!.childCount) return false;
    dispatch?.(
      rewrite(state, table, position, (cells) => cells.toSpliced(at, 1).toSpliced(to, 0, cells[at]!)),
    );
    return true;
  };
}

export function moveRow(by: number): Command {
  return (state, dispatch) => {
    const spot = spotOf(state);
    if (spot === undefined || spot.row === 0) return false;
    const to = spot.row + by;
    if (to < 1 || to >= spot.table.childCount) return false;
    if (dispatch) {
      const from = cellPosition(spot.table, spot.position, spot.row, 0) - 1;
      const row = spot.table.child(spot.row);
      const offset = state.selection.from - from;
      const transaction = state.tr.delete(from, from + row.nodeSize);
      const place = cellPosition(spot.table, spot.position, Math.min(spot.row, to), 0) - 1 +
        (by > 0 ? spot.table.child(to).nodeSize : 0);
      transaction.insert(place, row);
      dispatch(into(transaction, place + offset));
    }
    return true;
  };
}

/** Change the type of a column. Cell values are kept where the new type allows. */
export function setColumnType(table: Node, position: number, at: number, type: string): Command {
  return (state, dispatch) => {
    const column: Data = type === "text" ? { type, textAlignment: "left" } : { type };
    if (type === "rating") column.max = 5;
    if (type === "select") column.options = [];
    const options = new Map<string, Data>();
    const cells = (cell: Node): Node => {
      const text = cell.type === schema.nodes.table_cell
        ? cell.textContent.trim()
        : cell.attrs.value === null
        ? ""
        : [cell.attrs.value].flat().join(", ");
      if (type === "text") {
        const words = typeof cell.attrs.value === "boolean" ? "" : text;
        if (cell.type === schema.nodes.table_cell) return cell;
        return schema.nodes.table_cell!.create(
          null,
          schema.nodes.paragraph!.create(null, words ? schema.text(words) : null),
        );
      }
      let value: unknown = null;
      if (type === "checkbox") value = cell.attrs.value === true || /^(x|yes|true|✓|✅)$/i.test(text);
      else if (type === "number" || type === "rating") {
        value = text !== "" && Number.isFinite(Number(text)) ? Number(text) : null;
      } else if (type === "select" && text) {
        options.set(text, { value: text, label: text, color: "default" });
        value = [text];
      } else if ((type === "content-ref" || type === "image") && safeUrl(text) && text) {
        value = { kind: "url", url: text };
      } else if ((type === "files" || type === "users") && text) value = [text];
      return schema.nodes.table_value!.create({ value });
    };
    if (dispatch) {
      const transaction = rewrite(
        state,
        table,
        position,
        (row, number) => number ? row.with(at, cells(row[at]!)) : row,
      );
      if (type === "select") column.options = [...options.values()];
      const heading = cellPosition(table, position, 0, at);
      dispatch(transaction.setNodeAttribute(heading, "column", column));
    }
    return true;
  };
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

/** Move to the next or previous cell. After the last one, add a row. */
export function goToCell(by: 1 | -1): Command {
  return (state, dispatch, view) => {
    const spot = spotOf(state);
    if (spot === undefined) return false;
    const width = spot.table.firstChild!.childCount;
    const hidden = (spot.table.attrs.data.view as Data).hideHeader === true ? 1 : 0;
    for (let number = spot.row * width + spot.column + by;; number += by) {
      const row = Math.floor(number / width);
      if (row < hidden) return true;
      if (row >= spot.table.childCount) {
        return insertRow(spot.table, spot.position, spot.table.childCount)(state, dispatch, view);
      }
      const at = cellPosition(spot.table, spot.position, row, number % width);
      const cell = state.doc.nodeAt(at)!;
      if (cell.type === schema.nodes.table_value) continue;
      dispatch?.(into(state.tr, at + 1));
      return true;
    }
  };
}
