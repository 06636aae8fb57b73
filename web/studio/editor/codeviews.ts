/** Node views of hints and code. */
import type { Node } from "prosemirror-model";
import { TextSelection } from "prosemirror-state";
import { classes } from "../document/drawing.ts";
import { hintStyle } from "../document/richdrawing.ts";
import { t } from "../../shared/words.ts";
import { copyText } from "../parts/copying.ts";
import { setData } from "./blockdata.ts";
import { h, set, sign } from "./dom.ts";
import { dataOf, Drawn, REDRAW } from "./drawn.ts";
import { drawIcon } from "./icons.ts";
import { languageName } from "./languages.ts";
import { openSettings } from "./opening.ts";
import { viewWords as words } from "./viewwords.ts";

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
  /** The rendering of its lines, if they are a diagram. */
  #drawn = h("div", { class: "diagram-drawn", contenteditable: "false", onclick: () => this.#open() });
  #state = h("span", { role: "status" });
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

  /** A diagram is above its source. If the source is invalid, the last rendering stays with an error. */
  async #draw(): Promise<void> {
    const isDiagram = String(dataOf(this.node).syntax ?? "").toLowerCase() === "mermaid";
    this.dom.classList.toggle("with-diagram", isDiagram);
    if (!isDiagram) return this.#drawn.remove();
    const code = linesOf(this.node);
    const { diagramImage, drawDiagram } = await import("./diagrams.ts");
    const { drawn: found, ...wrong } = await drawDiagram(code);
    if (code !== linesOf(this.node)) return;
    this.#drawn.classList.toggle("wrong", found === undefined);
    if (found) this.#drawn.replaceChildren(diagramImage(found, code));
    if (this.editable) {
      set(this.#state, { class: found ? "diagram-state" : "diagram-state wrong" });
      // An error at the end is reported in the line after it.
      const { line } = wrong as { line?: number };
      this.#state.textContent = found
        ? words.valid
        : line
        ? t("invalidDiagramInLine", { line: Math.min(line, this.node.childCount) })
        : words.invalidDiagram;
      this.#drawn.append(this.#state);
    }
    this.dom.prepend(this.#drawn);
  }

  /** Put the caret in the source of a diagram, which is shown while it is there. */
  #open(): void {
    const at = this.position();
    if (at === undefined || !this.editable) return;
    const { state } = this.view;
    this.view.dispatch(state.tr.setSelection(TextSelection.create(state.doc, at + 2)));
    this.view.focus();
  }

  destroy(): void {
    clearTimeout(this.#drawing);
  }

  #show(): void {
    const data = dataOf(this.node);
    const lines = this.node.childCount;
    this.dom.className = classes(
      "code",
      // Classes that the editor added stay.
      ...["with-diagram", "with-caret", "ProseMirror-selectednode"].filter((name) =>
        this.dom.classList.contains(name)
      ),
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
