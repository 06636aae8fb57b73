/** The column menu in a table's header. */
import type { Command } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { schema } from "../document/schema.ts";
import { table as types } from "../document/table.ts";
import type { Data } from "../document/types.ts";
import { openMenu } from "./menu.ts";
import {
  type Column,
  deleteColumn,
  insertColumn,
  moveColumn,
  setColumn,
  setColumnType,
} from "./tablecommands.ts";
import { setData } from "./views.ts";
import { words } from "./words.ts";

/** `position`: of the column's header cell. */
export function openColumnMenu(view: EditorView, position: number | undefined, beside: HTMLElement): void {
  if (position === undefined) return;
  const place = view.state.doc.resolve(position);
  const depth = place.depth - 1;
  const table = place.node(depth);
  if (table.type !== schema.nodes.table) return;
  const at = place.index();
  const before = place.before(depth);
  const column = view.state.doc.nodeAt(position)!.attrs.column as Column;
  const run = (command: Command) => () => {
    command(view.state, view.dispatch, view);
    view.focus();
  };
  const shown = (table.attrs.data as Data).view as Data;
  const text = column.type === "text";
  openMenu(view, beside, words.column, [
    ...types.columnTypes.map((type) => ({
      label: words.columnTypes[type] ?? type,
      chosen: type === column.type,
      group: words.columnType,
      run: run(setColumnType(table, before, at, type)),
    })),
    ...(text
      ? ["left", "center", "right"].map((align) => ({
        label: words.alignments[align]!,
        chosen: column.textAlignment === align,
        group: words.alignment,
        run: run(setColumn(position, { textAlignment: align })),
      }))
      : []),
    { label: words.columnBefore, group: words.column, run: run(insertColumn(table, before, at)) },
    { label: words.columnAfter, group: words.column, run: run(insertColumn(table, before, at + 1)) },
    {
      label: words.moveLeft,
      group: words.column,
      off: at === 0,
      run: run(moveColumn(table, before, at, at - 1)),
    },
    {
      label: words.moveRight,
      group: words.column,
      off: at === table.firstChild!.childCount - 1,
      run: run(moveColumn(table, before, at, at + 1)),
    },
    {
      label: words.deleteColumn,
      group: words.column,
      danger: true,
      run: run(deleteColumn(table, before, at)),
    },
    {
      label: shown.hideHeader === true ? words.showHead : words.hideHead,
      group: words.table,
      run: () => setData(view, before, { view: { ...shown, hideHeader: shown.hideHeader !== true } }),
    },
    {
      label: shown.type === "cards" ? words.asGrid : words.asCards,
      group: words.table,
      run: () => {
        const { hideHeader: _, cardSize: __, ...rest } = shown;
        const next = shown.type === "cards"
          ? { ...rest, type: "grid", hideHeader: false }
          : { ...rest, type: "cards", cardSize: "medium" };
        setData(view, before, { view: next });
      },
    },
  ]);
}
