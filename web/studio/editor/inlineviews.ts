/** Node views for drawings, formulas, unknown content, and inline nodes. */
import { classes, colorClass, urlOf } from "../document/drawing.ts";
import type { Data } from "../document/types.ts";
import { h, set, sign } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { openSettings } from "./opening.ts";
import { noteText } from "./views.ts";
import { viewWords as words } from "./viewwords.ts";
import { dataOf, Drawn } from "./drawn.ts";
import { drawPicture } from "./pictures.ts";

export class PictureView extends Drawn {
  dom: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.dom = h(
      "div",
      { class: "images" },
      h("figure", { class: "image drawing" }, ...drawPicture(dataOf(this.node), this.around.lookup)),
    );
  }
}

/** Show a formula. If it is invalid, show an error next to its last rendering or its source. */
async function showFormula(place: HTMLElement, formula: string, block: boolean): Promise<void> {
  const { setFormula } = await import("./formulas.ts");
  const found = setFormula(formula, block);
  if ("drawn" in found) {
    place.replaceChildren(found.drawn);
    set(place, { title: null, class: block ? "math" : "inline-math" });
  } else {
    set(place, { title: found.wrong || null });
    place.classList.add("wrong");
  }
}

/** A formula as readers see it. A click opens its source. */
export class FormulaView extends Drawn {
  dom: HTMLElement;
  #shown: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.#shown = h("div", { class: "math" }, h("code", {}, this.#formula));
    this.dom = h("div", { class: "captioned", contenteditable: "false" }, this.#shown);
    void showFormula(this.#shown, this.#formula, true);
    if (!this.editable) return;
    this.#shown.addEventListener("click", () => openSettings(this.view, this.position(), this.dom));
    this.dom.append(
      h(
        "button",
        {
          type: "button",
          class: "block-tool with-word",
          onclick: (event: MouseEvent) =>
            openSettings(this.view, this.position(), event.currentTarget as HTMLElement),
        },
        sign("edit"),
        words.editFormula,
      ),
    );
  }

  get #formula(): string {
    return String(dataOf(this.node).formula ?? "");
  }

  protected override changed(): boolean {
    void showFormula(this.#shown, this.#formula, true);
    return true;
  }
}

/** The Markdown of content without a node type, above its children. */
export class UnknownView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const { source, kind } = dataOf(this.node);
    this.contentDOM = h("div", { class: "unknown-body" });
    const shown = kind !== "comment" || this.editable
      ? h("pre", { class: "raw", contenteditable: "false" }, String(source ?? ""))
      : null;
    this.dom = h("div", { class: "unknown" }, shown, this.contentDOM);
  }
}

/** A block with a label above its content: a condition, an update, a prompt. */
export class NamedView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const type = this.node.type.name;
    const data = dataOf(this.node);
    const line = type === "if"
      ? `${words.if} ${data.expression}`
      : [data.date, data.summary, data.method, data.path, data.name, data.status, data.description].filter(
        Boolean,
      ).join(" · ");
    this.contentDOM = h("div", { class: "named-body" });
    const head = h("button", {
      type: "button",
      class: "named-head",
      contenteditable: "false",
      disabled: !this.editable,
      onclick: (event: MouseEvent) =>
        openSettings(this.view, this.position(), event.currentTarget as HTMLElement),
    }, line || (words.blocks[type] ?? type));
    this.dom = h("div", { class: `named ${type.replaceAll("_", "-")}` }, head, this.contentDOM);
  }
}

export class InlineView extends Drawn {
  dom: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.dom = this.#draw();
    if (this.editable) {
      this.dom.addEventListener("dblclick", () => openSettings(this.view, this.position(), this.dom));
    }
  }

  /** Show the current value of an expression if it is known, otherwise its source. */
  #expression(expression: string): HTMLElement {
    const shown = h("code", { class: "expression", title: `{{ ${expression} }}` }, expression);
    this.around.lookup.value(expression).then((value) => {
      if (value === undefined) return;
      shown.textContent = value;
      shown.classList.add("known");
    }, () => {});
    return shown;
  }

  #draw(): HTMLElement {
    const data = (this.node.attrs.data ?? {}) as Data;
    switch (this.node.type.name) {
      case "icon":
        return h("span", { class: colorClass("c", data.color) }, drawIcon(data.icon));
      case "inline_image":
        return h(
          "span",
          { class: "inline-picture" },
          ...drawPicture(data, this.around.lookup, data.size === "line" ? "image-line" : "image-original"),
        );
      case "button": {
        const off = data.ref === undefined && data.action === undefined;
        return h(
          "span",
          {
            class: classes(
              "button",
              data.kind === "secondary" ? "secondary" : "primary",
              data.size === "small" || data.size === "large" ? data.size : false,
              off && "off",
            ),
          },
          data.icon ? drawIcon(data.icon) : null,
          h("span", {}, String(data.label ?? "")),
        );
      }
      case "mention": {
        const shown = h("span", { class: "mention" }, String(data.label ?? urlOf(data.ref) ?? ""));
        this.around.lookup.target(data.ref).then((target) => {
          if (target.title && target.title !== "@") shown.textContent = target.title;
          shown.classList.toggle("broken", target.broken === true);
        }, () => {});
        return shown;
      }
      case "inline_math": {
        const shown = h("span", { class: "inline-math" }, h("code", {}, String(data.formula ?? "")));
        void showFormula(shown, String(data.formula ?? ""), false);
        return shown;
      }
      case "expression":
        return this.#expression(String(data.expression ?? ""));
      case "held": {
        const { type, fragments } = this.node.attrs.json as { type: string; fragments?: unknown[] };
        // A footnote without marked words. The style sheet counts its number.
        if (type === "annotation" && fragments?.length) {
          return h("sup", { class: "note-number", title: noteText(fragments) });
        }
        return h("span", { class: "held", title: words.opaque }, this.editable ? "⟨…⟩" : "");
      }
      default:
        // HTML that isn't supported in a page.
        return h("span", { class: "held", title: String(data.source ?? "") }, this.editable ? "⟨⟩" : "");
    }
  }
}
