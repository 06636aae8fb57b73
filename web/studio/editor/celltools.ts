/** Selection of cells with the mouse, its highlight, and the toolbar below selected cells. */
import { toggleMark } from "prosemirror-commands";
import { keydownHandler } from "prosemirror-keymap";
import type { Node } from "prosemirror-model";
import { type Command, type EditorState, Plugin } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { n, t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";
import type { About } from "./base.ts";
import { cellKeys, CellSelection, clearChosen, deleteChosenLines, selectColumns } from "./cells.ts";
import { h, place, set } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { openMenu } from "./menu.ts";
import { chosen } from "./threadmarks.ts";
import { cellPosition } from "./grid.ts";
import { insertColumn } from "./tablecommands.ts";
import { mergeCells, splitCells } from "./mergedcells.ts";
import { rowItems } from "./tablemenus.ts";
import { keyName, openColors } from "./toolbar.ts";
import { words } from "./words.ts";

const DELAY = 120;

/** Return the position before the table cell around an element in this view. */
function cellAt(view: EditorView, target: EventTarget | null): number | undefined {
  const element = target instanceof Element ? target.closest("td, th, .card-line") : null;
  if (!element || !view.dom.contains(element)) return undefined;
  const row = element.parentElement!;
  const inside = view.posAtDOM(row, [...row.children].indexOf(element));
  const node = view.state.doc.nodeAt(inside);
  const { parent } = view.state.doc.resolve(inside);
  return node && (parent.type === schema.nodes.table_row || parent.type === schema.nodes.table_head)
    ? inside
    : undefined;
}

function tableOf(state: EditorState, cell: number): number {
  const place = state.doc.resolve(cell);
  return place.before(place.depth - 1);
}

function select(view: EditorView, first: number, last: number): void {
  const selection = CellSelection.create(view.state.doc, first, last);
  if (!selection.eq(view.state.selection)) view.dispatch(view.state.tr.setSelection(selection));
}

export interface CellOptions {
  /** Called to comment on the selection. If undefined, there is no button. */
  comment?: (about: About) => void;
}

export function cellTools(options: CellOptions): Plugin {
  const keys = keydownHandler(cellKeys);
  /** The cell in which the pointer was pressed. `left`: whether it has left that cell; until then, it selects
   * text. */
  let drag: { first: number; left: boolean } | undefined;
  return new Plugin({
    props: {
      handleKeyDown: keys,
      decorations({ selection, doc }) {
        if (!(selection instanceof CellSelection)) return null;
        const found: Decoration[] = [];
        const { top, bottom, left, right } = selection.rectangle;
        selection.eachBackward((cell: Node, at: number, row: number, column: number) => {
          const edges = [
            row === top && "edge-top",
            row === bottom && "edge-bottom",
            column === left && "edge-start",
            column === right && "edge-end",
          ];
          const names = ["selected-cell", ...edges].filter(Boolean).join(" ");
          found.push(Decoration.node(at, at + cell.nodeSize, { class: names }));
        });
        return DecorationSet.create(doc, found);
      },
      handleDOMEvents: {
        // The browser would drag the selected cells, even from a cell between them that isn't selected.
        dragstart(view, event) {
          if (!(view.state.selection instanceof CellSelection)) return false;
          event.preventDefault();
          return true;
        },
      },
      // The browser selects text while the pointer moves from cell to cell; keep the cells selected. It also reports
      // late, after the next key, what it selected for the cells that are selected now.
      createSelectionBetween(view, $anchor, $head) {
        const { selection } = view.state;
        if (drag) return drag.left ? selection : null;
        return selection instanceof CellSelection && selection.holds($anchor, $head) ? selection : null;
      },
    },
    view(view) {
      const stop = new AbortController();
      const { signal } = stop;
      const bar = new CellBar(view, options);
      view.dom.addEventListener("mousedown", (event) => {
        drag = undefined;
        if (event.button !== 0 || (event.target as Element).closest("button")) return;
        const at = cellAt(view, event.target);
        if (at === undefined) return;
        const { selection } = view.state;
        const from = selection instanceof CellSelection
          ? selection.$first.pos
          : cellAt(view, view.domAtPos(selection.head).node.parentElement);
        if (
          event.shiftKey && from !== undefined && from !== at &&
          tableOf(view.state, from) === tableOf(view.state, at)
        ) {
          event.preventDefault();
          event.stopImmediatePropagation();
          select(view, from, at);
          view.focus();
        } else if (!event.shiftKey) drag = { first: at, left: false };
      }, { signal, capture: true });
      document.addEventListener("mousemove", (event) => {
        if (!drag) return;
        if (!(event.buttons & 1)) return void (drag = undefined);
        const at = cellAt(view, event.target);
        const { first } = drag;
        if (at === undefined || (!drag.left && at === first)) return;
        const { doc } = view.state;
        if (first >= doc.content.size || tableOf(view.state, first) !== tableOf(view.state, at)) return;
        drag.left = true;
        event.preventDefault();
        select(view, first, at);
      }, { signal });
      document.addEventListener("mouseup", () => {
        if (drag?.left) view.focus();
        drag = undefined;
        bar.update();
      }, { signal });
      return {
        update: () => bar.update(drag?.left),
        destroy() {
          stop.abort();
          bar.destroy();
        },
      };
    },
  });
}

/** The toolbar below selected cells, shown shortly after the pointer is released. */
class CellBar {
  #dom = h("div", {
    class: "menu toolbar cell-bar",
    role: "toolbar",
    "aria-label": t("cells"),
    hidden: true,
  });
  #merge: HTMLButtonElement;
  #mergeWord = h("span", { class: "button-word" });
  #count = h("span", { class: "cell-count", role: "status" });
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shown: CellSelection | undefined;
  #stop = new AbortController();

  constructor(private view: EditorView, options: CellOptions) {
    this.#button(words.alignment, "align-left", (button) => this.#openAlign(button));
    this.#button(
      words.marks.bold!,
      "bold",
      () => this.#run(toggleMark(schema.marks.bold!)),
      keyName("Mod-B"),
    );
    this.#button(words.color, "palette", (button) => openColors(view, button));
    this.#dom.append(h("span", { class: "bar" }));
    this.#merge = this.#button("", "table-cells", () => {
      if (!splitCells(this.view.state, this.view.dispatch)) mergeCells(this.view.state, this.view.dispatch);
      this.view.focus();
    });
    this.#merge.append(this.#mergeWord);
    this.#button(t("clear"), "eraser", () => this.#run(clearChosen), "Del").append(
      h("span", { class: "button-word" }, t("clear")),
    );
    this.#dom.append(h("span", { class: "bar" }));
    const { comment } = options;
    if (comment) {
      this.#button(words.comment, "regular/comment", () => {
        const about = chosen(view.state);
        if (about) comment(about);
      });
    }
    this.#button(words.more, "ellipsis", (button) => this.#openMore(button));
    this.#dom.append(this.#count);
    this.#dom.addEventListener("mousedown", (event) => event.preventDefault());
    this.#dom.addEventListener("keydown", (event) => this.#key(event));
    document.body.append(this.#dom);
    document.addEventListener("scroll", () => !this.#dom.hidden && this.#place(), {
      signal: this.#stop.signal,
      capture: true,
      passive: true,
    });
  }

  #button(
    title: string,
    icon: string,
    run: (button: HTMLElement) => void,
    keys = "",
  ): HTMLButtonElement {
    const button = h("button", {
      type: "button",
      title: keys ? `${title} (${keys})` : title,
      "aria-label": title,
      tabindex: this.#dom.querySelector("button") ? "-1" : "0",
      onclick: () => run(button),
    }, drawIcon(icon));
    this.#dom.append(button);
    return button;
  }

  #run(command: Command): void {
    command(this.view.state, this.view.dispatch, this.view);
    this.view.focus();
  }

  update(dragging = false): void {
    const { selection } = this.view.state;
    const cells = selection instanceof CellSelection && this.view.editable ? selection : undefined;
    if (cells && this.#shown?.eq(cells) && cells.$head.doc === this.#shown.$head.doc && !dragging) return;
    clearTimeout(this.#timer);
    this.#shown = undefined;
    if (!cells || dragging) {
      this.#dom.hidden = true;
      return;
    }
    this.#shown = cells;
    this.#timer = setTimeout(() => {
      if (!this.view.hasFocus() && !this.#dom.contains(document.activeElement)) {
        // A menu of the table is open.
        this.#dom.hidden = true;
        return;
      }
      this.#count.textContent = n("cellsSelected", cells.count);
      const splits = splitCells(this.view.state);
      this.#merge.hidden = !splits && !mergeCells(this.view.state);
      const label = splits ? t("splitCells") : t("mergeCells");
      set(this.#merge, { title: label, "aria-label": label });
      this.#mergeWord.textContent = label;
      this.#dom.hidden = false;
      this.#place();
    }, DELAY);
  }

  #place(): void {
    const chosen = [...this.view.dom.querySelectorAll(".selected-cell:not([hidden])")];
    const boxes = [chosen[0], chosen.at(-1)].map((cell) => cell?.getBoundingClientRect());
    const [first, last] = boxes;
    if (!first || !last) return;
    place(this.#dom, {
      left: Math.min(first.left, last.left),
      right: Math.max(first.right, last.right),
      top: first.top,
      bottom: last.bottom,
    });
  }

  #openAlign(button: HTMLElement): void {
    const cells = this.#shown;
    if (!cells) return;
    const { left, right } = cells.rectangle;
    openMenu(
      this.view,
      button,
      words.alignment,
      ["left", "center", "right"].map((align) => ({
        label: words.alignments[align]!,
        run: () => {
          const transaction = this.view.state.tr;
          for (let column = left; column <= right; column++) {
            const at = cellPosition(cells.table, cells.position, 0, column);
            const heading = transaction.doc.nodeAt(at)!;
            const fields = heading.attrs.column as Data;
            if (fields.type === "text") {
              transaction.setNodeAttribute(at, "column", { ...fields, textAlignment: align });
            }
          }
          this.view.dispatch(transaction);
          this.view.focus();
        },
      })),
    );
  }

  #openMore(button: HTMLElement): void {
    const cells = this.#shown;
    if (!cells) return;
    const { table, position, rectangle: { top, left, right } } = cells;
    const run = (command: Command) => () => this.#run(command);
    openMenu(this.view, button, t("cells"), [
      ...rowItems(cells, (command) => this.#run(command)),
      {
        label: words.columnBefore,
        keys: keyName("Alt-Shift-←"),
        group: words.column,
        run: run(insertColumn(table, position, left, top)),
      },
      {
        label: words.columnAfter,
        keys: keyName("Alt-Shift-→"),
        group: words.column,
        run: run(insertColumn(table, position, right + 1, top)),
      },
      {
        label: t("selectColumns"),
        keys: keyName("Ctrl-Space"),
        group: words.column,
        run: run(selectColumns),
      },
      {
        label: t("deleteColumns"),
        group: words.column,
        danger: true,
        run: () => {
          this.#run(selectColumns);
          this.#run(deleteChosenLines);
        },
      },
    ]);
  }

  /** Handle keys. The bar is one Tab stop, and arrow keys move along it. */
  #key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") {
      event.preventDefault();
      this.view.focus();
    } else if (step !== undefined) {
      const all = [...this.#dom.querySelectorAll<HTMLElement>("button:not([hidden])")];
      all[(all.indexOf(document.activeElement as HTMLElement) + step + all.length) % all.length]?.focus();
      event.preventDefault();
    }
  }

  destroy(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#dom.remove();
  }
}
