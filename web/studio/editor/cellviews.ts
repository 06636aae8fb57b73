/** The view of a cell with a value instead of text: a number, a choice, files, a rating. */
import type { Node } from "prosemirror-model";
import type { EditorView, NodeView, ViewMutationRecord } from "prosemirror-view";
import { classes } from "../document/drawing.ts";
import type { Data } from "../document/types.ts";
import { h, set } from "./dom.ts";
import type { Position } from "./drawn.ts";
import { cellPosition, type Column } from "./grid.ts";
import { drawPicture } from "./pictures.ts";
import type { Asset } from "./referenced.ts";
import type { Surroundings } from "./surroundings.ts";
import { around, cardRole, cellElement } from "./tables.ts";
import { viewWords as words } from "./viewwords.ts";

export class ValueView implements NodeView {
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

  /** Render a field that opens when the cell is clicked, or that is the cell itself. */
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
