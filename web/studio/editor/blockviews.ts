/** Node views for hints, list items, and code. */
import type { Node } from "prosemirror-model";
import { classes, drawBlock, hintStyle } from "../document/drawing.ts";
import { copyText } from "../parts/copying.ts";
import { setData } from "./blockdata.ts";
import { h, renderSpec, set, sign } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { languageName } from "./languages.ts";
import { openSettings } from "./opening.ts";
import { viewWords as words } from "./viewwords.ts";
import { dataOf, Drawn, REDRAW } from "./drawn.ts";

/** A view defined by its elements and classes: a paragraph, a heading, a list. */
export class PlainView extends Drawn {
  dom: HTMLElement;
  override contentDOM?: HTMLElement | null;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const { dom, contentDOM } = renderSpec(drawBlock(this.node));
    this.dom = dom;
    this.contentDOM = contentDOM ?? null;
  }
}

export class ItemView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;
  #box?: HTMLInputElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const checked = dataOf(this.node).checked;
    if (typeof checked !== "boolean") {
      this.dom = this.contentDOM = h("li");
      return;
    }
    this.#box = h("input", {
      type: "checkbox",
      contenteditable: "false",
      onmousedown: (event: Event) => event.preventDefault(),
      onclick: (event: Event) => {
        event.preventDefault();
        if (this.editable) {
          setData(this.view, this.position(), { checked: !(dataOf(this.node).checked === true) });
        }
      },
    });
    this.contentDOM = h("div");
    this.dom = h("li", { class: "task" }, this.#box, this.contentDOM);
    this.#show(checked);
  }

  #show(checked: boolean): void {
    this.#box!.checked = checked;
    set(this.#box!, {
      "aria-label": checked ? words.done : words.toDo,
      "aria-disabled": this.editable ? null : "true",
    });
  }

  protected override changed(before: Node): boolean {
    const checked = dataOf(this.node).checked;
    if (typeof checked !== typeof dataOf(before).checked) return false;
    // A click changes the checkbox after its listeners ran; then it shows the node's state.
    if (typeof checked === "boolean") queueMicrotask(() => this.#show(checked));
    return true;
  }
}

export class HintView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const data = dataOf(this.node);
    const style = hintStyle(data);
    const icon = data.icon ? drawIcon(data.icon) : h("span", { class: "icon" });
    set(icon, { contenteditable: "false" });
    this.contentDOM = h("div", { class: "hint-body" });
    this.dom = h(
      "div",
      { class: `hint ${style}`, role: "note", "aria-label": words.hints[style] },
      icon,
      this.contentDOM,
    );
    if (this.editable) {
      const next = { info: "success", success: "warning", warning: "danger", danger: "info" }[style];
      icon.classList.add("hint-switch");
      icon.addEventListener("mousedown", (event) => event.preventDefault());
      icon.addEventListener("click", () => setData(this.view, this.position(), { style: next }));
      set(icon, { title: words.nextStyle });
    }
  }
}

function linesOf(code: Node): string {
  const lines: string[] = [];
  code.forEach((line) => lines.push(line.textContent));
  return lines.join("\n");
}

export class CodeView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;
  #caption: HTMLElement;
  /** The rendering of the block's lines, if they are a diagram. */
  #drawn = h("div", { class: "diagram-drawn", contenteditable: "false" });
  #drawing: ReturnType<typeof setTimeout> | undefined;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.contentDOM = h("code", { spellcheck: "false", translate: "no" });
    this.#caption = h("figcaption", { contenteditable: "false" });
    this.dom = h("figure", {}, h("pre", {}, this.contentDOM));
    this.#show();
    void this.#draw();
  }

  override update(node: Node): boolean {
    const before = this.node;
    const same = super.update(node);
    if (same && !before.eq(node)) {
      clearTimeout(this.#drawing);
      this.#drawing = setTimeout(() => void this.#draw(), REDRAW);
    }
    return same;
  }

  /** Render a diagram above its source. If the source is invalid, the last rendering stays, with an error. */
  async #draw(): Promise<void> {
    const isDiagram = String(dataOf(this.node).syntax ?? "").toLowerCase() === "mermaid";
    this.dom.classList.toggle("with-diagram", isDiagram);
    if (!isDiagram) return this.#drawn.remove();
    const code = linesOf(this.node);
    const { diagramImage, drawDiagram } = await import("./diagrams.ts");
    const found = await drawDiagram(code);
    if (code !== linesOf(this.node)) return;
    this.#drawn.classList.toggle("wrong", found === undefined);
    if (found) this.#drawn.replaceChildren(diagramImage(found, code));
    const state = h(
      "span",
      { class: found ? "diagram-state" : "diagram-state wrong", role: "status" },
      found ? words.valid : words.invalidDiagram,
    );
    this.#drawn.querySelector(".diagram-state")?.remove();
    if (this.editable) this.#drawn.append(state);
    this.dom.prepend(this.#drawn);
  }

  destroy(): void {
    clearTimeout(this.#drawing);
  }

  #show(): void {
    const data = dataOf(this.node);
    const lines = this.node.childCount;
    this.dom.className = classes(
      "code",
      this.dom.classList.contains("with-diagram") && "with-diagram",
      data.title ? "titled" : null,
      data.overflow === "wrap" && "wrap",
      data.lineNumbers === true && "numbered",
      data.lineNumbers === true && lines > 999 && "digits-4",
      data.fullWidth === true && "wide",
    )!;
    const language = languageName(String(data.syntax ?? ""));
    this.#caption.replaceChildren(
      ...(data.title ? [h("span", { class: "code-title" }, String(data.title))] : []),
      ...(language ? [h("span", { class: "code-language" }, language)] : []),
    );
    if (data.title || language) this.dom.querySelector(":scope > pre")!.before(this.#caption);
    else this.#caption.remove();
    this.dom.querySelector(":scope > .copy")?.remove();
    const tools = this.editable
      ? h("button", {
        type: "button",
        class: "copy block-tool",
        contenteditable: "false",
        title: words.codeSettings,
        "aria-label": words.codeSettings,
        onclick: (event: MouseEvent) =>
          openSettings(this.view, this.position(), event.currentTarget as HTMLElement),
      }, sign("edit"))
      : h("button", {
        type: "button",
        class: "copy",
        contenteditable: "false",
        title: words.copy,
        "aria-label": words.copy,
        onclick: (event: MouseEvent) => this.#copy(event.currentTarget as HTMLElement),
      }, sign("copy"));
    this.dom.append(tools);
  }

  async #copy(button: HTMLElement): Promise<void> {
    await copyText(linesOf(this.node));
    button.classList.add("done");
    set(button, { "aria-label": words.copied });
    setTimeout(() => button.classList.remove("done"), 2000);
  }

  protected override changed(): boolean {
    this.#show();
    return true;
  }
}
