/** The settings of a table that its fields don't show: its appearance, columns, and header. */
import type { Node } from "prosemirror-model";
import type { EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { h } from "./dom.ts";
import { cellPosition, columnsOf } from "./grid.ts";
import { drawIcon } from "./icons.ts";
import { growTable, openColumnMenu, showAs, TYPE_ICONS } from "./tablemenus.ts";
import { words } from "./words.ts";

export function drawTable(view: EditorView, position: number, table: Node): HTMLElement[] {
  const cards = (table.attrs.data.view as { type: string }).type === "cards";
  const choice = (kind: "grid" | "cards", label: string, icon: string) =>
    h(
      "button",
      {
        type: "button",
        "data-field": kind,
        "aria-pressed": String(cards === (kind === "cards")),
        onclick: () => showAs(view, position, kind),
      },
      drawIcon(icon),
      label,
    );
  const columns = columnsOf(table).map((column, at) => {
    const title = table.firstChild!.child(at).textContent || t("untitled");
    const type = words.columnTypes[column.type] ?? column.type;
    const button = h(
      "button",
      {
        type: "button",
        "data-field": `column ${at}`,
        "aria-haspopup": "menu",
        "aria-label": t("columnNamed", { name: title }),
        onclick: () => openColumnMenu(view, cellPosition(table, position, 0, at), button),
      },
      drawIcon(TYPE_ICONS[column.type]),
      h("span", { class: "column-title" }, title),
      h("span", { class: "column-type" }, type),
      drawIcon("angle-right"),
    );
    return h("li", {}, button);
  });
  return [
    h(
      "div",
      { class: "field" },
      h("span", {}, t("showAs")),
      h(
        "div",
        { class: "segments", role: "group", "aria-label": t("showAs") },
        choice("grid", words.table, "table"),
        choice("cards", t("cards"), "grip"),
      ),
    ),
    h(
      "div",
      { class: "field" },
      h("span", {}, t("columns")),
      h("ul", { class: "column-list", "aria-label": t("columns") }, ...columns),
      h(
        "button",
        {
          type: "button",
          class: "column-add",
          "data-field": "add",
          onclick: () => growTable(view, position, "column"),
        },
        drawIcon("plus"),
        words.addColumn,
      ),
    ),
  ];
}
