/** Fits rows of a table to its columns if one person creates rows while another one adds, moves, or deletes columns. */
import { Fragment, type Node } from "prosemirror-model";
import { type Mappable, ReplaceStep, type Step, type Transform } from "prosemirror-transform";
import { childrenOf } from "../document/building.ts";
import { newKey, schema } from "../document/schema.ts";
import { replaceNodes } from "./difference.ts";
import { type Column, columnsOf } from "./grid.ts";

interface Place {
  table: Node;
  position: number;
}

/** A row in other columns, and its cells whose column no longer exists. */
interface Fitted {
  row: Node;
  left: Node[];
}

/** Return whether a step inserts only rows of a table. */
function insertsRows(step: Step): step is ReplaceStep {
  return step instanceof ReplaceStep && step.from === step.to && !step.slice.openStart &&
    step.slice.content.firstChild?.type.name === "table_row";
}

function tableAround(doc: Node, at: number): Place | undefined {
  const $at = doc.resolve(at);
  return $at.parent.type.name === "table" ? { table: $at.parent, position: $at.before() } : undefined;
}

/** Return a function that fits rows to the columns that their table has in a later document. Return undefined if the
 * columns are still the same. */
function fitting(doc: Node, at: number, now: Node, mapping: Mappable): ((row: Node) => Fitted) | undefined {
  const was = tableAround(doc, at);
  if (!was) return undefined;
  const { pos, deletedAfter } = mapping.mapResult(was.position, 1);
  const table = deletedAfter ? null : now.nodeAt(pos);
  if (table?.type !== was.table.type) return undefined;
  const places = new Map<number, number>();
  was.table.firstChild!.forEach((_, offset, index) => {
    const heading = mapping.mapResult(was.position + 2 + offset, 1);
    if (!heading.deletedAfter) places.set(heading.pos, index);
  });
  const former: number[] = [];
  table!.firstChild!.forEach((_, offset) => former.push(places.get(pos + 2 + offset) ?? -1));
  const isSame = former.length === was.table.firstChild!.childCount &&
    former.every((from, index) => from === index);
  // Without any known column, the table was replaced.
  if (isSame || !places.size) return undefined;
  const columns = columnsOf(table!);
  return (row) => {
    const cells = former.map((from, index) => from < 0 ? emptyCell(columns[index]!) : row.maybeChild(from));
    // A row from a file can have fewer cells than there are columns.
    while (cells.length && !cells.at(-1)) cells.pop();
    const filled = cells.map((cell, index) => cell ?? emptyCell(columns[index]!));
    return {
      row: row.copy(Fragment.from(filled)),
      left: childrenOf(row).filter((_, index) => !former.includes(index)),
    };
  };
}

function emptyCell({ type }: Column): Node {
  const { table_cell, table_value, paragraph } = schema.nodes;
  return type === "text"
    ? table_cell!.create({ absent: true }, paragraph!.create({ key: newKey() }))
    : table_value!.create({ value: type === "checkbox" ? false : null });
}

/** Return the rows that a step inserts, in the columns that their table has in a later document, and the cells that have
 * no column there. Return undefined if the step inserts no rows, or if the columns are still the same. */
export function rowsFor(
  step: Step,
  before: Node,
  now: Node,
  mapping: Mappable,
): { rows: Fragment; left: Node[] } | undefined {
  const fit = insertsRows(step) ? fitting(before, step.from, now, mapping) : undefined;
  if (!fit) return undefined;
  const found = childrenOf((step as ReplaceStep).slice.content).map(fit);
  return { rows: Fragment.from(found.map(({ row }) => row)), left: found.flatMap(({ left }) => left) };
}

/** Return the positions of rows that steps of a transform insert, after its first `count` steps. `others`: the indexes of
 * these steps. */
export function newRows(made: Transform, others: readonly number[], count: number): number[] {
  return others.flatMap((at) => {
    const step = made.steps[at]!;
    if (!insertsRows(step)) return [];
    const onward = made.mapping.slice(at + 1, count);
    let place = step.from;
    return childrenOf(step.slice.content).flatMap((row) => {
      const { pos, deletedAfter } = onward.mapResult(place, 1);
      place += row.nodeSize;
      return deletedAfter ? [] : [pos];
    });
  });
}

/**
 * Fit rows to the columns of their table, which the last steps of a transform have changed without knowing these rows.
 * `before`: the document before these steps, in which the rows have these positions; `own`: the mapping of the steps. Calls
 * `onleft` with the cells whose column no longer exists, and their position.
 */
export function fitRows(
  made: Transform,
  before: Node,
  rows: readonly number[],
  own: Mappable,
  onleft: (cells: Node[], place: number) => void,
): void {
  const now = made.doc;
  // From the end, so that earlier positions stay valid.
  for (const place of rows.toSorted((one, other) => other - one)) {
    const fit = fitting(before, place, now, own);
    const { pos, deletedAfter } = own.mapResult(place, 1);
    const row = deletedAfter ? null : now.nodeAt(pos);
    if (!fit || row?.type.name !== "table_row") continue;
    const fitted = fit(row);
    replaceNodes(made, pos, [row], [fitted.row]);
    onleft(fitted.left, pos);
  }
}
