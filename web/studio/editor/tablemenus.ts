/** The menus of columns, opened from the header, and of rows, opened from their side. */
import type { Command } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import { table as types } from "../document/table.ts";
import type { Data } from "../document/types.ts";
import { setData } from "./blockdata.ts";
import { CellSelection, selectRows } from "./cells.ts";
import { type MenuItem, openMenu } from "./menu.ts";
import { type Column } from "./grid.ts";
import {
  deleteColumns,
  deleteRows,
  duplicateColumns,
  duplicateRows,
  insertColumn,
  insertRow,
  moveColumns,
  moveRows,
  setColumn,
  setColumnType,
  sortRows,
} from "./tablecommands.ts";
import { openSettingsOf } from "./settingsopener.ts";
import { keyName, openColors } from "./toolbar.ts";
import { words } from "./words.ts";

export const TYPE_ICONS: Record<string, string> = {
  text: "font",
  number: "hashtag",
  checkbox: "regular/square-check",
  select: "regular/circle-dot",
  files: "paperclip",
  users: "user",
  rating: "star",
  "content-ref": "link",
  image: "image",
};

/** Return the menu items for the rows of selected cells. */
export function rowItems(cells: CellSelection, run: (command: Command) => void): MenuItem[] {
  const { table, position, rectangle: { top, bottom, left } } = cells;
  const group = t("row");
  const item = (label: string, command: Command, more: Partial<MenuItem> = {}): MenuItem => ({
    label,
    group,
    run: () => run(command),
    ...more,
  });
  const above = insertRow(table, position, Math.max(1, top), left);
  return [
    item(t("addRowAbove"), above, { icon: "arrow-up", keys: keyName("Alt-Shift-↑"), off: top === 0 }),
    item(t("addRowBelow"), insertRow(table, position, bottom + 1, left), {
      icon: "arrow-down",
      keys: keyName("Alt-Shift-↓"),
    }),
    item(words.moveUp, moveRows(table, position, top, bottom, -1), {
      icon: "angle-up",
      keys: keyName("Alt-↑"),
      off: top < 2,
    }),
    item(words.moveDown, moveRows(table, position, top, bottom, 1), {
      icon: "angle-down",
      keys: keyName("Alt-↓"),
      off: top < 1 || bottom === table.childCount - 1,
    }),
    item(words.duplicate, duplicateRows(table, position, top, bottom), {
      icon: "regular/clone",
      off: bottom === 0,
    }),
    ...(cells.wholeRows ? [] : [item(t("selectRows"), selectRows, { icon: "bars", keys: "Shift Space" })]),
    item(t("deleteRows"), deleteRows(table, position, top, bottom), {
      icon: "regular/trash-can",
      danger: true,
      off: bottom === 0,
    }),
  ];
}

/** Add a row or a column at the end of the table at a position. */
export function growTable(view: EditorView, position: number, kind: "row" | "column"): void {
  const table = view.state.doc.nodeAt(position);
  if (table === null || table.type !== schema.nodes.table) return;
  const command = kind === "row"
    ? insertRow(table, position, table.childCount)
    : insertColumn(table, position, table.firstChild!.childCount);
  command(view.state, view.dispatch);
  view.focus();
}

/** Show the table at a position as a grid or as cards. */
export function showAs(view: EditorView, position: number, type: "grid" | "cards"): void {
  const { hideHeader: _, cardSize: __, ...rest } = viewOf(view, position);
  const own = type === "cards" ? { cardSize: "medium" } : { hideHeader: false };
  setData(view, position, { view: { ...rest, type, ...own } });
}

/** Show or hide the header of the table at a position. */
export function showHeader(view: EditorView, position: number, shown: boolean): void {
  setData(view, position, { view: { ...viewOf(view, position), hideHeader: !shown } });
}

function viewOf(view: EditorView, position: number): Data {
  return (view.state.doc.nodeAt(position)!.attrs.data as Data).view as Data;
}

/** Select a row and open its menu. `position`: the position of the table. */
export function openRowMenu(view: EditorView, position: number, row: number, beside: HTMLElement): void {
  const table = view.state.doc.nodeAt(position);
  if (table === null || table.type !== schema.nodes.table || row >= table.childCount) return;
  const right = table.child(row).childCount - 1;
  if (right < 0) return;
  const cells = CellSelection.of(view.state.doc, position, { top: row, bottom: row, left: 0, right });
  view.dispatch(view.state.tr.setSelection(cells));
  view.focus();
  openMenu(
    view,
    beside,
    t("row"),
    rowItems(cells, (command) => {
      command(view.state, view.dispatch, view);
      view.focus();
    }),
  );
}

/** Open the menu of a column. `position`: the position of the column's header cell. */
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
  const text = column.type === "text";
  const last = table.childCount - 1;
  const cells = CellSelection.of(view.state.doc, before, { top: 0, bottom: last, left: at, right: at });
  view.dispatch(view.state.tr.setSelection(cells));
  view.focus();
  const name = view.state.doc.nodeAt(position)!.textContent;
  const group = name ? t("columnNamed", { name }) : words.column;
  const openTypes = () =>
    openMenu(
      view,
      beside,
      words.columnType,
      types.columnTypes.map((type) => ({
        label: words.columnTypes[type] ?? type,
        ...(TYPE_ICONS[type] ? { icon: TYPE_ICONS[type] } : {}),
        chosen: type === column.type,
        group: words.columnType,
        run: run(setColumnType(table, before, at, type)),
      })),
    );
  const openAlign = () =>
    openMenu(
      view,
      beside,
      words.alignment,
      ["left", "center", "right"].map((align) => ({
        label: words.alignments[align]!,
        icon: `align-${align}`,
        chosen: (column.textAlignment ?? "left") === align,
        group: words.alignment,
        run: run(setColumn(position, { textAlignment: align })),
      })),
    );
  openMenu(view, beside, group, [
    {
      label: t("sortAscending"),
      icon: "arrow-up-short-wide",
      group,
      off: last < 2,
      run: run(sortRows(table, before, at, false)),
    },
    {
      label: t("sortDescending"),
      icon: "arrow-down-wide-short",
      group,
      off: last < 2,
      run: run(sortRows(table, before, at, true)),
    },
    {
      label: words.columnType,
      icon: TYPE_ICONS[column.type] ?? "font",
      value: words.columnTypes[column.type] ?? column.type,
      line: true,
      group,
      run: openTypes,
    },
    ...(text
      ? [
        {
          label: words.alignment,
          icon: "align-left",
          value: words.alignments[String(column.textAlignment ?? "left")] ?? "",
          group,
          run: openAlign,
        },
        { label: words.color, icon: "palette", value: "", group, run: () => openColors(view, beside) },
      ]
      : []),
    {
      label: words.columnBefore,
      icon: "arrow-left",
      keys: keyName("Alt-Shift-←"),
      line: true,
      group,
      run: run(insertColumn(table, before, at)),
    },
    {
      label: words.columnAfter,
      icon: "arrow-right",
      keys: keyName("Alt-Shift-→"),
      group,
      run: run(insertColumn(table, before, at + 1)),
    },
    {
      label: words.moveLeft,
      icon: "angle-left",
      keys: keyName("Alt-←"),
      group,
      off: at === 0,
      run: run(moveColumns(table, before, at, at, -1)),
    },
    {
      label: words.moveRight,
      icon: "angle-right",
      keys: keyName("Alt-→"),
      group,
      off: at === table.firstChild!.childCount - 1,
      run: run(moveColumns(table, before, at, at, 1)),
    },
    {
      label: words.duplicate,
      group,
      icon: "regular/clone",
      run: run(duplicateColumns(table, before, at, at)),
    },
    {
      label: t("tableSettings"),
      group,
      icon: "gear",
      line: true,
      run: () => void openSettingsOf(view, before, beside),
    },
    {
      label: words.deleteColumn,
      group,
      icon: "regular/trash-can",
      danger: true,
      run: run(deleteColumns(table, before, at, at)),
    },
  ]);
}
