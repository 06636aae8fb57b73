/** Tables: how they are drawn, and what is done with their rows and columns. Every cell is one place of the grid. */
import type { Node } from "prosemirror-model";
import { type Command, type EditorState, TextSelection, type Transaction } from "prosemirror-state";
import type { EditorView, NodeView, NodeViewConstructor, ViewMutationRecord } from "prosemirror-view";
import { childrenOf } from "../document/convert.ts";
import { classes, safeUrl } from "../document/drawing.ts";
import { schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";
import { h, set, sign } from "./dom.ts";
import type { Asset } from "./lookup.ts";
import { openColumnMenu } from "./tablemenus.ts";
import { drawPicture, type Surroundings } from "./views.ts";
import { words } from "./words.ts";

export interface Column extends Data {
  type: string;
}

/** The table around a place: its position, and the row and the column of the place. The head is row 0. */
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

/** Where in the page a cell begins. */
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

/** A table with so many columns of text, with these titles, and rows below its head. */
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

/** Writes a table anew, row by row: `change` gives the cells of a row. */
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

export function deleteRow(state: EditorState, dispatch?: (transaction: Transaction) => void): boolean {
  const spot = spotOf(state);
  if (spot === undefined || spot.row === 0) return false;
  if (dispatch) {
    const from = cellPosition(spot.table, spot.position, spot.row, 0) - 1;
    const transaction = state.tr.delete(from, from + spot.table.child(spot.row).nodeSize);
    dispatch(into(transaction, Math.min(from, transaction.doc.content.size)));
  }
  return true;
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

/** Gives a column another type; what its cells hold is taken along where the new type can hold it. */
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

/** To the next cell, or the one before; behind the last one a row begins. */
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

// --- how they are drawn --------------------------------------------------------------------------------------

type Position = () => number | undefined;

function viewOf(table: Node): Data {
  return ((table.attrs.data as Data).view ?? {}) as Data;
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
      if (view.editable) this.dom.append(this.#rail("row"), this.#rail("column"));
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
        const command = kind === "row"
          ? insertRow(this.node, at, this.node.childCount)
          : insertColumn(this.node, at, this.node.firstChild!.childCount);
        command(this.view.state, this.view.dispatch);
        this.view.focus();
      },
    }, "+");
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
    if (node.type !== this.node.type || viewOf(node).type !== viewOf(this.node).type) return false;
    // Cells are drawn by their column, whose type may be another now.
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
    return (event.target as HTMLElement).closest(".rail") !== null;
  }
}

/** The column that a cell is in, and how its table is shown. */
function around(
  view: EditorView,
  position: number | undefined,
): { column?: Column; cards: boolean; index: number; table?: Node } {
  if (position === undefined) return { cards: false, index: 0 };
  const place = view.state.doc.resolve(position);
  const table = place.node(place.depth - 1);
  if (table?.type !== schema.nodes.table) return { cards: false, index: 0 };
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

/** The role of a column in cards: where a card leads to and its picture are no lines of it. */
function cardRole(table: Node | undefined, index: number): string {
  if (table === undefined) return "line";
  const view = viewOf(table);
  const id = table.firstChild!.child(index).attrs.id;
  if (id === null) return "line";
  if (id === view.targetDefinition) return "target";
  return id === view.coverDefinition || id === view.coverDefinitionDark ? "cover" : "line";
}

function cellElement(view: EditorView, position: Position): HTMLElement {
  const { column, cards, index, table } = around(view, position());
  if (!cards) return h("td", { class: cellClass(column) });
  return h("div", { class: `card-line card-${cardRole(table, index)}` });
}

class HeadingView implements NodeView {
  dom: HTMLElement;
  contentDOM: HTMLElement;

  constructor(node: Node, view: EditorView, position: Position) {
    const column = node.attrs.column as Column;
    this.contentDOM = h("span", { class: "heading-text" });
    this.dom = h("th", { scope: "col", class: cellClass(column) }, this.contentDOM);
    if (view.editable) {
      this.dom.append(h("button", {
        type: "button",
        class: "column-menu",
        contenteditable: "false",
        tabindex: "-1",
        title: words.column,
        "aria-label": words.column,
        onclick: (event: MouseEvent) => openColumnMenu(view, position(), event.currentTarget as HTMLElement),
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

class ValueView implements NodeView {
  dom: HTMLElement;

  constructor(
    private node: Node,
    private view: EditorView,
    private position: Position,
    private surroundings: Surroundings,
  ) {
    this.dom = cellElement(view, position);
    set(this.dom, { contenteditable: "false" });
    this.dom.classList.add("value");
    this.#show();
  }

  #set(value: unknown): void {
    const at = this.position();
    if (at !== undefined && this.view.editable) {
      this.view.dispatch(this.view.state.tr.setNodeAttribute(at, "value", value));
    }
  }

  #show(): void {
    const { column, cards, index, table } = around(this.view, this.position());
    const value = this.node.attrs.value as unknown;
    const cover = cards && cardRole(table, index) === "cover";
    this.dom.replaceChildren(...this.#draw(column?.type ?? "text", value, column, cover));
  }

  #draw(type: string, value: unknown, column: Column | undefined, cover: boolean): (HTMLElement | string)[] {
    const { lookup } = this.surroundings;
    switch (type) {
      case "checkbox": {
        const box = h("input", { type: "checkbox", "aria-label": value === true ? words.done : words.toDo });
        box.checked = value === true;
        box.addEventListener("click", (event) => {
          event.preventDefault();
          this.#set(!(this.node.attrs.value === true));
        });
        return [box];
      }
      case "rating": {
        const most = Number(column?.max ?? 5);
        const stars = Array.from(
          { length: most },
          (_, at) =>
            h("button", {
              type: "button",
              class: classes("star", at >= Number(value ?? 0) && "off"),
              tabindex: at ? "-1" : "0",
              "aria-label": `${at + 1}/${most}`,
              onclick: () => this.#set(this.node.attrs.value === at + 1 ? null : at + 1),
            }, "★"),
        );
        return [
          h("span", { class: "rating", role: "group", "aria-label": `${value ?? 0}/${most}` }, ...stars),
        ];
      }
      case "select":
        return [...this.#options(value, column), ...this.#text(value, (text) => this.#choose(text, column))];
      case "image":
        if (value !== null && typeof value === "object") {
          const one = Array.isArray(value) ? value[0] : value;
          const ref = one && typeof one === "object" && "ref" in one ? (one as Data).ref : one;
          const pictures = drawPicture(
            { ref: (typeof ref === "string" ? { kind: "url", url: ref } : ref) as Data, alt: "" },
            lookup,
            cover ? "card-picture" : "cell-image",
          );
          return cover ? [h("div", { class: "card-cover" }, ...pictures)] : pictures;
        }
        return this.#text(value, (text) => this.#set(text ? { kind: "url", url: text } : null));
      case "files": {
        const files = (Array.isArray(value) ? value : value ? [value] : []).map((each) => {
          const ref = typeof each === "string" ? { kind: "url", url: each } : each;
          const link = h("span", { class: "cell-file" }, typeof each === "string" ? each : "");
          lookup.asset(ref).then((asset?: Asset) => asset && (link.textContent = asset.name), () => {});
          if (cover) {
            return h("div", { class: "card-cover" }, ...drawPicture({ ref } as Data, lookup, "card-picture"));
          }
          return link;
        });
        return [
          ...files,
          ...(cover ? [] : this.#text(
            value,
            (text) => this.#set(text ? text.split(",").map((each) => each.trim()) : null),
          )),
        ];
      }
      case "content-ref": {
        if (value === null) {
          return this.#text(value, (text) => this.#set(text ? { kind: "url", url: text } : null));
        }
        const shown = h("span", { class: "mention" }, String((value as Data).url ?? ""));
        lookup.target(value).then((target) => {
          if (target.title) shown.textContent = target.title;
          shown.classList.toggle("broken", target.broken === true);
        }, () => {});
        return [shown, ...this.#text(value, (text) => this.#set(text ? { kind: "url", url: text } : null))];
      }
      case "users":
        return [
          ...(Array.isArray(value) ? value : []).map((each) => h("span", { class: "tag" }, String(each))),
          ...this.#text(value, (text) => this.#set(text ? text.split(",").map((each) => each.trim()) : null)),
        ];
      case "number":
        return this.#text(
          value,
          (text) => this.#set(text === "" || !Number.isFinite(Number(text)) ? null : Number(text)),
          String(value ?? ""),
        );
      default:
        return [value === null ? "" : String(value)];
    }
  }

  #options(value: unknown, column: Column | undefined): HTMLElement[] {
    const options = new Map(((column?.options ?? []) as Data[]).map((each) => [String(each.value), each]));
    return [value].flat().filter((each) => typeof each === "string").map((each) => {
      const option = options.get(each as string);
      const color = String(option?.color ?? "").toLowerCase().replace("$", "");
      return h("span", {
        class: classes("tag", /^[a-z]+$/.test(color) && color !== "default" && `b-${color} c-${color}`),
      }, String(option?.label ?? each));
    });
  }

  #choose(text: string, column: Column | undefined): void {
    const options = (column?.options ?? []) as Data[];
    const values = text.split(",").map((each) => each.trim()).filter(Boolean);
    const chosen = values.map((each) =>
      options.find((option) => option.label === each || option.value === each)
    );
    const at = this.position();
    if (at === undefined) return;
    const transaction = this.view.state.tr;
    const added = values.filter((_, number) => chosen[number] === undefined).map((each) => ({
      value: each,
      label: each,
      color: "default",
    }));
    if (added.length) {
      const place = this.view.state.doc.resolve(at);
      const heading = cellPosition(
        place.node(place.depth - 1),
        place.before(place.depth - 1),
        0,
        place.index(),
      );
      transaction.setNodeAttribute(heading, "column", { ...column, options: [...options, ...added] });
    }
    transaction.setNodeAttribute(
      at,
      "value",
      values.length ? values.map((each, number) => chosen[number]?.value ?? each) : null,
    );
    this.view.dispatch(transaction);
  }

  /** A field that a click in the cell opens, or that is the cell itself. */
  #text(value: unknown, change: (text: string) => void, shown?: string): HTMLElement[] {
    if (!this.view.editable) return shown === undefined ? [] : [h("span", {}, shown)];
    const words = shown ??
      (value === null ? "" : [value].flat().map((
        each,
      ) => (typeof each === "object" && each !== null ? String((each as Data).url ?? "") : String(each)))
        .join(", "));
    const input = h("input", { type: "text", class: shown === undefined ? "cell-input over" : "cell-input" });
    input.value = words;
    input.addEventListener("change", () => change(input.value.trim()));
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "Escape") {
        if (event.key === "Escape") input.value = words;
        input.blur();
        this.view.focus();
      }
    });
    return [input];
  }

  update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    if (node.attrs.value !== this.node.attrs.value) {
      this.node = node;
      this.#show();
    }
    this.node = node;
    return true;
  }

  stopEvent(event: Event): boolean {
    return !/^drag|^drop/.test(event.type);
  }

  ignoreMutation(mutation: ViewMutationRecord): boolean {
    return mutation.type !== "selection";
  }
}

export function tableViews(surroundings: Surroundings): Record<string, NodeViewConstructor> {
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
    table_value: (node, view, position) => new ValueView(node, view, position, surroundings),
  };
}
