/** The node views of tables. */
import type { Node } from "prosemirror-model";
import type { EditorView, NodeView, NodeViewConstructor, ViewMutationRecord } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { childrenOf } from "../document/building.ts";
import { classes } from "../document/drawing.ts";
import type { Data } from "../document/types.ts";
import { h, set, sign } from "./dom.ts";
import type { Position } from "./drawn.ts";
import { type Column, columnsOf, mergedCells, spanAttributes } from "./grid.ts";
import { viewWords as words } from "./viewwords.ts";

/** The state of a view in the library whose elements can't be reused. */
const REPLACED = 3;

/** Code that only the editor needs. */
const commands = () => import("./tablemenus.ts");

function viewOf(table: Node): Data {
  return ((table.attrs.data as Data).view ?? {}) as Data;
}

/** Show the merged cells of a read-only table. `rows`: the element of its rows, the header first. */
export function showMerged(table: Node, rows: HTMLElement): void {
  const merged = mergedCells(table);
  if (!merged) return;
  const columns = table.firstChild!.childCount;
  [...rows.children].forEach((row, number) =>
    [...row.children].forEach((cell, column) =>
      set(cell, spanAttributes(merged, number * columns + column) ?? {})
    )
  );
}

class TableView implements NodeView {
  dom: HTMLElement;
  contentDOM: HTMLElement;
  #table?: HTMLTableElement;

  constructor(private node: Node, private view: EditorView, private position: Position) {
    this.contentDOM = h(viewOf(node).type === "cards" ? "div" : "tbody");
    if (viewOf(node).type === "cards") {
      this.dom = this.contentDOM;
      set(this.dom, { role: "list" });
    } else {
      this.#table = h("table", {}, this.contentDOM);
      this.dom = h(
        "div",
        { class: "table-place" },
        h("div", { role: "region", "aria-label": words.table }, this.#table),
      );
      if (view.editable) this.dom.append(this.#rail("row"), this.#rail("column"), this.#rowGrip());
    }
    this.#show();
  }

  #rail(kind: "row" | "column"): HTMLElement {
    return h("button", {
      type: "button",
      class: `rail rail-${kind}`,
      contenteditable: "false",
      tabindex: "-1",
      title: kind === "row" ? words.addRow : words.addColumn,
      "aria-label": kind === "row" ? words.addRow : words.addColumn,
      onmousedown: (event: Event) => event.preventDefault(),
      onclick: () => {
        const at = this.position();
        if (at === undefined) return;
        void commands().then(({ growTable }) => growTable(this.view, at, kind));
      },
    }, "+");
  }

  /** Return the button next to the row under the pointer, which selects the row and opens its menu. */
  #rowGrip(): HTMLElement {
    let row = -1;
    const grip = h("button", {
      type: "button",
      class: "row-grip",
      contenteditable: "false",
      tabindex: "-1",
      title: t("row"),
      "aria-label": t("row"),
      hidden: true,
      onmousedown: (event: Event) => event.preventDefault(),
      onclick: () => {
        const at = this.position();
        if (at === undefined || row < 1) return;
        void commands().then(({ openRowMenu }) => openRowMenu(this.view, at, row, grip));
      },
    });
    this.dom.addEventListener("mousemove", (event) => {
      const line = (event.target as Element).closest("tr");
      if (!line || line.parentElement !== this.contentDOM) return;
      row = [...this.contentDOM.querySelectorAll(":scope > tr")].indexOf(line);
      grip.hidden = row < 1;
      const box = line.getBoundingClientRect();
      grip.style.setProperty("top", `${box.top - this.dom.getBoundingClientRect().top}px`);
      grip.style.setProperty("height", `${box.height}px`);
    });
    return grip;
  }

  #show(): void {
    const view = viewOf(this.node);
    const wide = this.node.attrs.data.fullWidth === true;
    if (this.#table === undefined) {
      this.dom.className = classes("cards", view.cardSize === "large" && "large", wide && "wide", "editing")!;
      return;
    }
    const widths = (view.columnWidths ?? {}) as Record<string, number>;
    this.#table.parentElement!.className = classes(
      "table",
      this.node.firstChild!.childCount <= 2 && "pair",
      wide && "wide",
    )!;
    this.#table.className =
      classes(Object.keys(widths).length > 0 && "sized", view.hideHeader === true && "headless") ?? "";
    this.#table.querySelector("colgroup")?.remove();
    if (Object.keys(widths).length) {
      const ids = childrenOf(this.node.firstChild!).map((heading) => heading.attrs.id as string);
      this.#table.prepend(
        h("colgroup", {}, ...ids.map((id) => h("col", { width: widths[id] ? String(widths[id]) : null }))),
      );
    }
  }

  update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    if (viewOf(node).type !== viewOf(this.node).type) {
      // The library would keep the elements of the rows, which differ between grids and cards.
      (this.dom as HTMLElement & { pmViewDesc: { dirty: number } }).pmViewDesc.dirty = REPLACED;
      return false;
    }
    // Cells are rendered by the type of their column, which may have changed.
    const before = columnsOf(this.node);
    const after = columnsOf(node);
    if (before.length !== after.length || before.some((column, at) => column !== after[at])) {
      if (
        before.some((column, at) =>
          column.type !== after[at]?.type || column.textAlignment !== after[at]?.textAlignment
        )
      ) return false;
    }
    this.node = node;
    this.#show();
    return true;
  }

  ignoreMutation(mutation: ViewMutationRecord): boolean {
    return mutation.type !== "selection" && !this.contentDOM.contains(mutation.target);
  }

  stopEvent(event: Event): boolean {
    return (event.target as HTMLElement).closest(".rail, .row-grip") !== null;
  }
}

/** Return the column of a cell and the view of its table. */
export function around(
  view: EditorView,
  position: number | undefined,
): { column?: Column; cards: boolean; index: number; table?: Node } {
  if (position === undefined) return { cards: false, index: 0 };
  const place = view.state.doc.resolve(position);
  const table = place.node(place.depth - 1);
  if (table?.type.name !== "table") return { cards: false, index: 0 };
  const index = place.index();
  return { column: columnsOf(table)[index], cards: viewOf(table).type === "cards", index, table };
}

function cellClass(column: Column | undefined): string | undefined {
  const align = column?.type === "number"
    ? "end"
    : column?.textAlignment === "right"
    ? "end"
    : column?.textAlignment === "center"
    ? "center"
    : null;
  return classes(
    align && `align-${align}`,
    column?.verticalAlignment ? `at-${column.verticalAlignment}` : null,
    column?.type === "number" && "number",
  );
}

/** Return the role of a column in cards, because the target and image of a card aren't lines of text. */
export function cardRole(table: Node | undefined, index: number): string {
  if (table === undefined) return "line";
  const view = viewOf(table);
  const id = table.firstChild!.child(index).attrs.id;
  if (id === null) return "line";
  if (id === view.targetDefinition) return "target";
  return id === view.coverDefinition || id === view.coverDefinitionDark ? "cover" : "line";
}

export function cellElement(view: EditorView, position: Position): HTMLElement {
  const { column, cards, index, table } = around(view, position());
  if (!cards) return h("td", { class: cellClass(column) });
  return h("div", { class: `card-line card-${cardRole(table, index)}` });
}

class HeadingView implements NodeView {
  dom: HTMLElement;
  contentDOM: HTMLElement;

  constructor(node: Node, view: EditorView, position: Position) {
    const column = node.attrs.column as Column;
    this.contentDOM = h("span", { class: "heading-text", dir: "auto" });
    this.dom = h("th", { scope: "col", class: cellClass(column) }, this.contentDOM);
    if (view.editable) {
      this.dom.append(h("button", {
        type: "button",
        class: "column-menu",
        contenteditable: "false",
        tabindex: "-1",
        title: words.column,
        "aria-label": words.column,
        onclick: (event: MouseEvent) => {
          const beside = event.currentTarget as HTMLElement;
          void commands().then(({ openColumnMenu }) => openColumnMenu(view, position(), beside));
        },
      }, sign("chevron")));
    }
    this.update = (next) => next.type === node.type && next.attrs.column === column;
  }

  update: (node: Node) => boolean;

  stopEvent(event: Event): boolean {
    return (event.target as HTMLElement).closest("button") !== null;
  }

  ignoreMutation(mutation: ViewMutationRecord): boolean {
    return mutation.type !== "selection" && !this.contentDOM.contains(mutation.target);
  }
}

export function tableViews(): Record<string, NodeViewConstructor> {
  return {
    table: (node, view, position) => new TableView(node, view, position),
    table_heading: (node, view, position) => new HeadingView(node, view, position),
    table_head: (_, view, position) => {
      const at = position();
      const table = at === undefined ? undefined : view.state.doc.resolve(at).parent;
      const dom = table !== undefined && viewOf(table).type === "cards"
        ? h("div", { class: "cards-head" })
        : h("tr", { class: "table-head" });
      return { dom, contentDOM: dom };
    },
    table_row: (_, view, position) => {
      const at = position();
      const table = at === undefined ? undefined : view.state.doc.resolve(at).parent;
      if (table === undefined || viewOf(table).type !== "cards") {
        const dom = h("tr");
        return { dom, contentDOM: dom };
      }
      const contentDOM = h("div", { class: "card-text" });
      return { dom: h("div", { class: "card", role: "listitem" }, contentDOM), contentDOM };
    },
    table_cell: (_, view, position) => {
      const dom = cellElement(view, position);
      return { dom, contentDOM: dom };
    },
  };
}
