/** Tables as a grid: every cell is one place of it. The head is row 0. */
import type { Node } from "prosemirror-model";
import { childrenOf } from "../document/convert.ts";
import type { Data } from "../document/types.ts";

export interface Column extends Data {
  type: string;
}

export function columnsOf(table: Node): Column[] {
  return childrenOf(table.firstChild!).map((heading) => heading.attrs.column as Column);
}

/** Whether the head of a table is hidden. */
export function headless(table: Node): boolean {
  return (table.attrs.data.view as Data).hideHeader === true;
}

/** Where in the page a cell begins. */
export function cellPosition(table: Node, position: number, row: number, column: number): number {
  let at = position + 1;
  for (let number = 0; number < row; number++) at += table.child(number).nodeSize;
  at++;
  for (let number = 0; number < column; number++) at += table.child(row).child(number).nodeSize;
  return at;
}
