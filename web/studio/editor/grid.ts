/** Tables as grids, in which every cell has one position. The header is row 0. */
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

/** The number of columns and rows of a merged cell. */
export interface Span {
  across: number;
  down: number;
}

/** The merged cells of a table by number. The number of a cell is its row times the number of columns, plus its
 * column. */
export interface Merged {
  spans: Map<number, Span>;
  /** The numbers of the cells under merged ones. They are empty and aren't shown. */
  covered: Set<number>;
}

const SPAN = /^(col|row)span-/;
/** The maximum number of cells under a merged one. */
const MOST_CELLS = 100_000;

/** Return the name that the attributes of a table use for a cell. */
export function cellName(cell: Node): string | null {
  return (cell.type.name === "table_heading" ? cell.attrs.id : cell.attrs.fragment) as string | null;
}

export function attributesOf(table: Node): Record<string, string> {
  return ((table.attrs.meta as Data | null)?.attributes ?? {}) as Record<string, string>;
}

function isEmpty(cell: Node): boolean {
  if (cell.type.name === "table_heading") return !cell.content.size;
  return cell.type.name === "table_cell" && !cell.attrs.absent &&
    childrenOf(cell).every((block) =>
      block.type.name === "paragraph" && !block.textContent.trim() &&
      childrenOf(block).every((inline) => inline.isText)
    );
}

function numberIn(value: string | undefined): number {
  return value && /^[1-9]\d{0,4}$/.test(value) ? Number(value) : 1;
}

/** Return the merged cells of a table by the server's rules: a cell covers other cells only while these are empty. */
export function mergedCells(table: Node): Merged | undefined {
  const given = attributesOf(table);
  if (!Object.keys(given).some((name) => SPAN.test(name))) return undefined;
  const columns = table.firstChild!.childCount;
  const spans = new Map<number, Span>();
  const covered = new Set<number>();
  const isFree = (row: number, column: number): boolean => {
    const cell = column < columns ? table.maybeChild(row)?.maybeChild(column) : undefined;
    return !!cell && !covered.has(row * columns + column) && isEmpty(cell);
  };
  table.forEach((line, _, row) =>
    line.forEach((cell, _, column) => {
      const name = cellName(cell);
      const across = numberIn(given[`colspan-${name}`]);
      const down = numberIn(given[`rowspan-${name}`]);
      const number = row * columns + column;
      if (across * down === 1 || across * down > MOST_CELLS || covered.has(number)) return;
      if (row === 0 && down > 1) return;
      const reached: number[] = [];
      for (let y = row; y < row + down; y++) {
        for (let x = column; x < column + across; x++) {
          if (y === row && x === column) continue;
          if (!isFree(y, x)) return;
          reached.push(y * columns + x);
        }
      }
      spans.set(number, { across, down });
      for (const each of reached) covered.add(each);
    })
  );
  return { spans, covered };
}

/** Return the attributes of the element of a cell, if it is merged or under a merged one. */
export function spanAttributes(
  { spans, covered }: Merged,
  number: number,
): Record<string, string> | undefined {
  if (covered.has(number)) return { hidden: "" };
  const span = spans.get(number);
  return span && { colspan: String(span.across), rowspan: String(span.down) };
}
