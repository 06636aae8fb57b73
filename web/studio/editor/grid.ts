/** Tables as a grid: every cell is one place. The header is row 0. */
import type { Node } from "prosemirror-model";
import { childrenOf } from "../document/building.ts";
import type { Data } from "../document/types.ts";

export interface Column extends Data {
  type: string;
}

export function columnsOf(table: Node): Column[] {
  return childrenOf(table.firstChild!).map((heading) => heading.attrs.column as Column);
}

/** Return whether the header of a table is hidden. */
export function headless(table: Node): boolean {
  return (table.attrs.data.view as Data).hideHeader === true;
}

/** Return the position of a cell in the page. */
export function cellPosition(table: Node, position: number, row: number, column: number): number {
  let at = position + 1;
  for (let number = 0; number < row; number++) at += table.child(number).nodeSize;
  at++;
  for (let number = 0; number < column; number++) at += table.child(row).child(number).nodeSize;
  return at;
}
