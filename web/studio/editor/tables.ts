/** The node views of tables. */
import type { Node } from "prosemirror-model";
import type { EditorView, NodeView, NodeViewConstructor, ViewMutationRecord } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { childrenOf } from "../document/convert.ts";
import { classes } from "../document/drawing.ts";
import { schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";
import { h, set, sign } from "./dom.ts";
import type { Asset } from "./lookup.ts";
import type { Surroundings } from "./surroundings.ts";
import { cellPosition, type Column, columnsOf, mergedCells, spanAttributes } from "./grid.ts";
import { drawPicture } from "./imageviews.ts";
import { words } from "./words.ts";

/** Code that only the editor needs. */
const commands = () => import("./tablemenus.ts");

type Position = () => number | undefined;

function viewOf(table: Node): Data {
  return ((table.attrs.data as Data).view ?? {}) as Data;
}

/** Show the merged cells of a table that isn't edited. `rows`: the element of its rows, the header first. */
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

  /** The button next to the row under the pointer: selects the row and opens its menu. */
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
      row = [...this.contentDOM.children].indexOf(line);
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
    if (node.type !== this.node.type || viewOf(node).type !== viewOf(this.node).type) return false;
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

/** Return the role of a column in cards: the target and image of a card aren't lines of text. */
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

  /** A field that opens when the cell is clicked, or that is the cell itself. */
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
