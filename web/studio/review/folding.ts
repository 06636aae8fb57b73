/** Determines which blocks of a compared page are shown or collapsed. */
import type { Row } from "./blocks.ts";
import { keyOf } from "./editing.ts";

/** A row or a collapsed range. `change`: the number of the page's change in this row; 0 for none. */
export type Shown = { row: Row; change: number } | { folded: Row[]; id: string };

const isHeading = (row: Row | undefined) => row?.after?.type.name.startsWith("heading") ?? false;

/**
 * Collapse unchanged blocks, except a heading above a change, a single block between two changes, and blocks that
 * are needed. `unfolded`: the IDs of ranges that the person expanded.
 */
export function foldRows(
  rows: Row[],
  page: string,
  isKept: (row: Row) => boolean,
  unfolded: Record<string, boolean>,
): Shown[] {
  const found: Shown[] = [];
  let change = 0;
  let run: Row[] = [];
  const flush = (beforeChange: boolean) => {
    const heading = beforeChange && isHeading(run.at(-1)) ? run.pop() : undefined;
    if (run.length === 1) found.push({ row: run[0]!, change: 0 });
    else if (run.length) {
      const id = `${page} ${keyOf(run[0]!)}`;
      if (unfolded[id]) { for (const row of run) found.push({ row, change: 0 }); }
      else found.push({ folded: run, id });
    }
    if (heading) found.push({ row: heading, change: 0 });
    run = [];
  };
  for (const row of rows) {
    if (row.kind === "same" && !isKept(row)) {
      run.push(row);
      continue;
    }
    flush(true);
    found.push({ row, change: row.kind === "same" ? 0 : ++change });
  }
  flush(false);
  return found;
}
