/**
 * Node views: images, titles that are data, blocks that expand and collapse, and other nodes that need more than
 * elements and classes. Plain DOM with the reader's classes. Everything except text isn't editable and handles its own events.
 */
import { DOMSerializer, type Mark, type Node } from "prosemirror-model";
import type {
  EditorView,
  MarkViewConstructor,
  NodeView,
  NodeViewConstructor,
  ViewMutationRecord,
} from "prosemirror-view";
import { same } from "../document/convert.ts";
import {
  classes,
  colorClass,
  columnClass,
  drawBlock,
  emojiText,
  hintStyle,
  isPlayed,
  safeUrl,
  urlOf,
  valueText,
} from "../document/drawing.ts";
import { schema } from "../document/schema.ts";
import type { Data } from "../document/types.ts";
import { copyText } from "../parts/copying.ts";
import { sizeOf } from "../parts/sizes.ts";
import { COLUMN, setData } from "./blockdata.ts";
import { h, set, sign } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { languageName } from "./languages.ts";
import { type Asset, isLost, type Lookup, type Target } from "./lookup.ts";
import { openSettings } from "./opening.ts";
import type { Surroundings } from "./surroundings.ts";
import { words } from "./words.ts";

/** The views' access to the page around them. */
type Position = () => number | undefined;

function dataOf(node: Node): Data {
  return node.attrs.data as Data;
}

/** A view that renders itself again if more than its content changed. */
abstract class Drawn implements NodeView {
  abstract dom: HTMLElement;
  contentDOM?: HTMLElement | null;

  constructor(
    protected node: Node,
    protected view: EditorView,
    protected position: Position,
    protected around: Surroundings,
  ) {}

  update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    const before = this.node;
    this.node = node;
    // A block can get its key later.
    if (
      before.attrs === node.attrs ||
      (node.attrs.data !== undefined && same(before.attrs.data, node.attrs.data))
    ) return true;
    return this.changed(before);
  }

  /** Render other attributes; false if the node must be rendered from scratch. */
  protected changed(_before: Node): boolean {
    return false;
  }

  ignoreMutation(mutation: ViewMutationRecord): boolean {
    if (mutation.type === "selection") return false;
    return !this.contentDOM?.contains(mutation.target) ||
      (mutation.type === "attributes" && mutation.target === this.contentDOM);
  }

  /** Events outside the content aren't handled by the editor. */
  stopEvent(event: Event): boolean {
    const target = event.target as HTMLElement;
    if (this.contentDOM?.contains(target)) return false;
    return target.closest("button, input, select, textarea, summary .i") !== null &&
      !/^drag|^drop/.test(event.type);
  }

  protected get editable(): boolean {
    return this.view.editable;
  }

  protected select(): void {
    const at = this.position();
    if (at === undefined || !this.editable) return;
    this.around.select(this.view, at);
  }
}

/** A view defined by its elements and classes: a paragraph, a heading, a list. */
class PlainView extends Drawn {
  dom: HTMLElement;
  override contentDOM?: HTMLElement | null;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const { dom, contentDOM } = DOMSerializer.renderSpec(document, drawBlock(this.node));
    this.dom = dom as HTMLElement;
    this.contentDOM = contentDOM ?? null;
  }
}

class ItemView extends Drawn {
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

class HintView extends Drawn {
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

class CodeView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;
  #caption: HTMLElement;
  /** The rendering of its lines, if they are a diagram. */
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

  /** A diagram is above its source. If the source is invalid, the last rendering stays with an error. */
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

/** The maximum width of a card's image if two are next to each other. */
const CARD = 360;
/** The maximum height of images in lines and cells. */
const HEIGHTS: Record<string, number> = { "image-line": 24, "cell-image": 96 };

/** Return the display width of an image for `sizes`: never less than it will be. */
export function shownWidth(
  { width: own, height: tall }: Pick<Asset, "width" | "height">,
  width: string | null,
  className?: string,
): number {
  const line = HEIGHTS[className ?? ""];
  const most = className === "card-picture" ? CARD : COLUMN;
  const percent = width?.endsWith("%") ? parseFloat(width) : undefined;
  const shown = line && own && tall
    ? line * own / tall
    : percent !== undefined
    ? most * percent / 100
    : Number(width) || own || most;
  return Math.ceil(Math.min(shown, most));
}

/** Render images for one theme or both. A missing image shows a message in its place. */
export function drawPicture(data: Data, lookup: Lookup, className?: string): HTMLElement[] {
  const parts: [unknown, string | undefined][] = [[data.ref, data.refDark ? "only-light" : undefined]];
  if (data.refDark) parts.push([data.refDark, "only-dark"]);
  return parts.map(([ref, theme]) => {
    const image = h("img", {
      alt: String(data.alt ?? ""),
      class: classes(className, theme),
      loading: "lazy",
      decoding: "async",
      draggable: "false",
    });
    const length = (value: unknown): string | null => {
      const { unit, value: number } = (value ?? {}) as { unit?: string; value?: number };
      if (typeof value === "number") return String(value);
      return number === undefined ? null : unit === "%" ? `${Math.min(number, 100)}%` : String(number);
    };
    const [width, height] = [length(data.width), length(data.height)];
    lookup.asset(ref).then((asset?: Asset) => {
      if (asset === undefined) return missing(image, ref);
      if (asset.foreign) return elsewhere(image, asset.url);
      if (asset.sources) {
        image.sizes = `min(100vw, ${shownWidth(asset, width, className)}px)`;
        image.srcset = asset.sources;
      }
      image.src = asset.url;
      const ratio = asset.width && asset.height ? asset.height / asset.width : 0;
      const own = width === null && height === null && ratio;
      set(image, {
        width: own ? asset.width : width,
        height: own
          ? asset.height
          : height ?? (ratio && width && !width.endsWith("%") ? Math.round(Number(width) * ratio) : null),
      });
    }, () => missing(image, ref));
    image.addEventListener("error", () => missing(image, ref));
    return image;
  });
}

/** A placeholder for an image on another server, which must not learn who edits here. Readers see the image. */
function elsewhere(image: HTMLImageElement, url: string): void {
  const host = url.replace(/^[a-z]*:?\/\//i, "").split("/")[0] ?? "";
  const words = `${image.alt ? `${image.alt} · ` : ""}${host}`;
  image.replaceWith(h("span", { class: "picture-missing", title: url }, drawIcon("image"), ` ${words}`));
}

function missing(image: HTMLElement, ref: unknown): void {
  image.replaceWith(h("span", { class: "picture-missing" }, `${words.notFound} ${urlOf(ref) ?? ""}`));
}

class ImagesView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.dom = this.contentDOM = h("div");
    this.#show();
  }

  #show(): void {
    const { align, withFrame, fullWidth } = dataOf(this.node);
    this.dom.className = classes(
      "images",
      this.node.childCount > 1 && "gallery",
      typeof align === "string" && `at-${align}`,
      withFrame === true && "framed",
      fullWidth === true && "wide",
    )!;
  }

  override update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    this.node = node;
    this.#show();
    return true;
  }
}

/** A block with a caption: an image, a file, an embed. */
class CaptionedView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const data = dataOf(this.node);
    const type = this.node.type.name;
    const inside = type === "image"
      ? this.#image(data)
      : type === "file"
      ? this.#file(data)
      : this.#embed(data);
    this.contentDOM = h("div", { class: "caption-place" });
    const name = { image: "image", file: "attached", embed: "embed" }[type]!;
    const shown = h(
      "div",
      { class: "captioned", contenteditable: "false", onclick: () => this.select() },
      ...inside,
    );
    this.dom = h(
      "figure",
      { class: classes(name, data.fullWidth === true && "wide") },
      shown,
      this.contentDOM,
    );
    if (this.editable) {
      if (type === "image") {
        void import("./resizing.ts").then((made) => made.resizable(this.view, this.position, shown));
      }
      shown.append(
        h("button", {
          type: "button",
          class: "block-tool",
          title: words.settings,
          "aria-label": words.settings,
          onclick: (event: MouseEvent) => {
            event.stopPropagation();
            openSettings(this.view, this.position(), event.currentTarget as HTMLElement);
          },
        }, sign("edit")),
      );
    }
  }

  #image(data: Data): HTMLElement[] {
    return drawPicture(data, this.around.lookup);
  }

  #file(data: Data): HTMLElement[] {
    const name = h("span", { class: "file-name" });
    const facts = h("small");
    const link = h(
      "a",
      { class: "file", rel: "noopener" },
      sign("page"),
      h("span", { class: "file-text" }, name, facts),
      sign("download"),
    );
    link.addEventListener("click", (event) => this.editable && event.preventDefault());
    this.around.lookup.asset(data.ref).then((asset) => {
      name.textContent = asset?.name ?? urlOf(data.ref) ?? words.notFound;
      const kind = asset?.name.includes(".") ? asset.name.split(".").at(-1)!.toUpperCase().slice(0, 6) : "";
      facts.textContent = [kind, asset?.size ? sizeOf(asset.size) : ""].filter(Boolean).join(" · ");
      if (asset) set(link, { href: asset.url, download: asset.name });
    }, () => (name.textContent = words.notFound));
    return [link];
  }

  #embed(data: Data): HTMLElement[] {
    const url = safeUrl(data.url);
    const host = url?.replace(/^[a-z]+:\/\/(www\.)?/i, "").split("/")[0] ?? "";
    if (isPlayed(url)) {
      return [
        h(
          "div",
          { class: "player video" },
          h("span", { class: "play", "aria-hidden": "true" }),
          h("span", { class: "embed-text" }, host),
          h("small", {}, url),
        ),
      ];
    }
    return [
      h(
        "div",
        { class: "ref" },
        sign("link"),
        h(
          "span",
          { class: "ref-text" },
          h("span", { class: "ref-title" }, url ?? ""),
          h("span", { class: "ref-line" }, host),
        ),
        sign("forward"),
      ),
    ];
  }
}

class ExpandableView extends Drawn {
  dom: HTMLDetailsElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.dom = h("details", {
      class: "expandable",
      open: this.editable || (this.node.attrs.meta as Data | null)?.open === true,
    });
    this.contentDOM = this.dom;
  }

  protected override changed(): boolean {
    return true;
  }
}

class TitleView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.contentDOM = h("span");
    this.dom = h(
      "summary",
      {},
      h("span", { class: "i i-chevron", contenteditable: "false" }),
      this.contentDOM,
    );
    // Clicks in the title place the caret; only the icon expands.
    this.dom.addEventListener("click", (event) => {
      if (this.editable && !(event.target as HTMLElement).classList.contains("i")) event.preventDefault();
    });
    this.dom.addEventListener(
      "keyup",
      (event) => this.editable && event.key === " " && event.preventDefault(),
    );
  }
}

class TabsView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;
  #strip: HTMLElement;
  #chosen = 0;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.#strip = h("div", { role: "tablist", contenteditable: "false", "aria-label": words.tabs });
    this.contentDOM = h("div", { class: "tab-panels" });
    this.dom = h(
      "div",
      { class: classes("tabs", dataOf(this.node).fullWidth === true && "wide") },
      this.#strip,
      this.contentDOM,
    );
    this.#strip.addEventListener("keydown", (event) => this.#key(event));
    this.#show();
    // The panels are rendered after this.
    queueMicrotask(() => this.choose(this.#chosen));
  }

  /** Show the panel with this number. */
  choose(at: number): void {
    this.#chosen = Math.max(0, Math.min(at, this.node.childCount - 1));
    [...this.contentDOM.children].forEach((panel, number) => set(panel, { hidden: number !== this.#chosen }));
    [...this.#strip.querySelectorAll('[role="tab"]')].forEach((tab, number) =>
      set(tab, {
        "aria-selected": String(number === this.#chosen),
        tabindex: number === this.#chosen ? "0" : "-1",
      })
    );
  }

  #show(): void {
    const tabs: HTMLElement[] = [];
    this.node.forEach((item, _, at) => {
      const data = dataOf(item);
      const tab = h(
        "button",
        { type: "button", role: "tab", onclick: () => this.#click(at) },
        data.icon ? drawIcon(data.icon) : null,
        String(data.title || at + 1),
      );
      if (this.editable) tab.addEventListener("dblclick", () => this.#rename(at));
      tabs.push(tab);
    });
    this.dom.querySelector(":scope > .tab-add")?.remove();
    if (this.editable) {
      this.#strip.after(
        h("button", {
          type: "button",
          class: "tab-add",
          title: words.addTab,
          "aria-label": words.addTab,
          onclick: () => this.#add(),
        }, "+"),
      );
    }
    this.#strip.replaceChildren(...tabs);
  }

  #click(at: number): void {
    if (at === this.#chosen && this.editable) this.#rename(at);
    else this.choose(at);
  }

  #itemPosition(at: number): number | undefined {
    const own = this.position();
    if (own === undefined) return undefined;
    let found = own + 1;
    for (let number = 0; number < at; number++) found += this.node.child(number).nodeSize;
    return found;
  }

  #rename(at: number): void {
    const tab = this.#strip.querySelectorAll<HTMLElement>('[role="tab"]')[at];
    openSettings(this.view, this.#itemPosition(at), tab ?? this.dom);
  }

  #add(): void {
    const own = this.position();
    if (own === undefined) return;
    const { tabs_item, paragraph } = this.view.state.schema.nodes;
    const item = tabs_item!.create(
      { data: { title: `${words.tab} ${this.node.childCount + 1}` } },
      paragraph!.create(),
    );
    this.view.dispatch(this.view.state.tr.insert(own + this.node.nodeSize - 1, item));
    this.choose(this.node.childCount - 1);
  }

  #key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.choose((this.#chosen + step + this.node.childCount) % this.node.childCount);
    this.#strip.querySelectorAll<HTMLElement>('[role="tab"]')[this.#chosen]?.focus();
  }

  override update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    this.node = node;
    this.#show();
    queueMicrotask(() => this.choose(this.#chosen));
    return true;
  }
}

class PanelView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.dom = this.contentDOM = h("div", { role: "tabpanel", hidden: true });
  }

  protected override changed(): boolean {
    return true;
  }
}

class StepView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const { icon } = dataOf(this.node);
    const mark = h(
      "span",
      { class: "step-mark", "aria-hidden": "true", contenteditable: "false" },
      icon ? drawIcon(icon) : null,
    );
    this.contentDOM = h("div", { class: "step-body" });
    this.dom = h("li", { class: "step" }, mark, this.contentDOM);
  }
}

class ColumnView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.dom = this.contentDOM = h("div", { class: columnClass(dataOf(this.node)) });
  }
}

/** A reference as a card of the full width. */
class ReferenceView extends Drawn {
  dom: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const data = dataOf(this.node);
    this.dom = h("div", { class: "ref-place", contenteditable: "false" });
    this.#show({ title: String(data.label ?? urlOf(data.ref) ?? "") });
    this.around.lookup.target(data.ref).then((target) => this.#show(target), () => {});
  }

  #show(target: Target): void {
    const title = target.title ||
      String(dataOf(this.node).label ?? urlOf(dataOf(this.node).ref) ?? words.notFound);
    const mark = target.icon
      ? drawIcon(target.icon)
      : target.emoji
      ? h("span", { class: "icon" }, emojiText(target.emoji))
      : sign(target.broken ? "link" : "page");
    const text = h(
      "span",
      { class: "ref-text" },
      h("span", { class: "ref-title" }, title),
      target.description ? h("span", { class: "ref-line" }, target.description) : null,
    );
    const link = target.href !== undefined && !target.broken && !this.editable;
    this.dom.replaceChildren(
      h(
        link ? "a" : "div",
        { class: classes("ref", target.broken && "broken"), href: link ? target.href : null },
        mark,
        text,
        link ? sign("forward") : null,
      ),
    );
  }
}

/** A block without editable text: its type and a summary. */
class CardView extends Drawn {
  dom: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const [title, line] = this.#words();
    this.dom = h(
      "div",
      { class: "ref block-card", contenteditable: "false" },
      sign("page"),
      h(
        "span",
        { class: "ref-text" },
        h("span", { class: "ref-title" }, title),
        h("span", { class: "ref-line" }, line),
      ),
    );
    if (this.editable && this.node.attrs.data) {
      this.dom.append(
        h("button", {
          type: "button",
          class: "block-tool",
          title: words.settings,
          "aria-label": words.settings,
          onclick: (event: MouseEvent) =>
            openSettings(this.view, this.position(), event.currentTarget as HTMLElement),
        }, sign("edit")),
      );
    }
  }

  #words(): [string, string] {
    const type = this.node.type.name;
    if (type === "opaque") return [words.opaque, String((this.node.attrs.json as Data).type ?? "")];
    const data = dataOf(this.node);
    const method = [data.method, data.path ?? data.name].filter(Boolean).join(" ");
    const schemas = Array.isArray(data.schemas) ? data.schemas.join(", ") : "";
    return [
      words.blocks[type] ?? type,
      method || schemas || [data.integration, data.block].filter(Boolean).join(" · ") || valueText(data.ref),
    ];
  }
}

/** Reusable content with its text. In a change request, it can be edited in place, for all its uses. */
class ReusableView extends Drawn {
  dom: HTMLElement;
  #title = h("span", { class: "reusable-title" }, words.blocks.reusable_content!);
  #body = h("div");
  #edit: HTMLElement | undefined;
  #inside: { destroy(): void } | undefined;
  #writes = false;
  #gone = false;
  #deafen: () => void;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const own = this.#own();
    if (own) {
      this.#edit = h("button", {
        type: "button",
        class: "reusable-edit",
        onclick: () => void this.#write(own),
      }, words.edit);
    }
    this.dom = h(
      "div",
      { class: "reusable", contenteditable: "false" },
      this.editable
        ? h("div", { class: "reusable-head" }, drawIcon("recycle"), this.#title, this.#edit ?? null)
        : null,
      this.#body,
    );
    this.dom.addEventListener("click", (event) => {
      if (!this.#writes && !(event.target as Element).closest("button, a")) this.select();
    });
    this.#deafen = this.around.lookup.onchange(() => this.#show());
    this.#show();
    // Unsaved changes of another tab are applied.
    if (own) {
      const { space } = this.around.lookup;
      import("./keeping.ts").then(({ leftDrafts }) => leftDrafts(space, own.change, own.id)).then((left) => {
        if (left.length && !this.#gone) void this.#write(own);
      }, () => {});
    }
  }

  /** Whether it can be edited here: it belongs to this space and the page to a change request. */
  #own(): { change: number; id: string } | undefined {
    const { space, reusableContent } = (dataOf(this.node).ref ?? {}) as Record<string, string>;
    const { base, space: here } = this.around.lookup;
    return this.editable && reusableContent && base.kind === "change" && (space ?? here) === here
      ? { change: base.number, id: reusableContent }
      : undefined;
  }

  #show(): void {
    this.around.lookup.reusable(dataOf(this.node).ref).then(async (found) => {
      if (this.#writes || this.#gone) return;
      this.#edit?.toggleAttribute("hidden", found === undefined);
      if (found === undefined) {
        const where = urlOf(dataOf(this.node).ref) ?? "";
        this.#body.replaceChildren(h("span", { class: "picture-missing" }, `${words.notFound} ${where}`));
        return;
      }
      this.#title.textContent = found.title;
      const { readDocument } = await import("../document/convert.ts");
      if (this.#writes || this.#gone) return;
      this.#inside?.destroy();
      const place = h("div");
      this.#body.replaceChildren(place);
      this.#inside = this.around.mount(place, {
        doc: readDocument(found.document),
        lookup: this.around.lookup,
      });
    }, () => {});
  }

  async #write(own: { change: number; id: string }): Promise<void> {
    if (this.#writes) return;
    this.#writes = true;
    this.#edit?.setAttribute("hidden", "");
    try {
      const made = await this.around.writeInPlace({
        ...own,
        around: this.around,
        ondone: () => {
          this.#writes = false;
          this.around.lookup.changed();
          this.select();
        },
      });
      if (this.#gone) return made.destroy();
      this.#inside?.destroy();
      this.#inside = made;
      this.#body.replaceChildren(made.dom);
      made.focus();
    } catch (problem) {
      this.#writes = false;
      this.#edit?.removeAttribute("hidden");
      this.#body.append(h("p", { class: "reusable-problem", role: "alert" }, (problem as Error).message));
    }
  }

  /** The inner editor handles its own events. */
  override stopEvent(event: Event): boolean {
    return this.#writes && this.#body.contains(event.target as globalThis.Node) || super.stopEvent(event);
  }

  override ignoreMutation(mutation: ViewMutationRecord): boolean {
    return this.#writes || super.ignoreMutation(mutation);
  }

  destroy(): void {
    this.#gone = true;
    this.#deafen();
    this.#inside?.destroy();
  }
}

class PictureView extends Drawn {
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

/** Milliseconds without typing before a drawing is updated. */
const REDRAW = 150;

/** Show a formula. An invalid one keeps its last drawing, or its source, and says so. */
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

/** A formula as readers see it. The pencil and a double click open its source. */
class FormulaView extends Drawn {
  dom: HTMLElement;
  #shown: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.#shown = h("div", { class: "math" }, h("code", {}, this.#formula));
    this.dom = h("div", { class: "captioned", contenteditable: "false" }, this.#shown);
    void showFormula(this.#shown, this.#formula, true);
    if (!this.editable) return;
    this.dom.addEventListener("dblclick", () => openSettings(this.view, this.position(), this.dom));
    this.dom.append(
      h("button", {
        type: "button",
        class: "block-tool",
        title: words.editFormula,
        "aria-label": words.editFormula,
        onclick: (event: MouseEvent) =>
          openSettings(this.view, this.position(), event.currentTarget as HTMLElement),
      }, sign("edit")),
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
class UnknownView extends Drawn {
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
class NamedView extends Drawn {
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

class InlineView extends Drawn {
  dom: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.dom = this.#draw();
    if (this.editable) {
      this.dom.addEventListener("dblclick", () => openSettings(this.view, this.position(), this.dom));
    }
  }

  /** Its current value if known, otherwise its source. */
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
          { class: classes("button", data.kind === "secondary" ? "secondary" : "primary", off && "off") },
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
      case "held":
        return h("span", { class: "held", title: words.opaque }, this.editable ? "⟨…⟩" : "");
      default:
        // HTML that has no meaning here.
        return h("span", { class: "held", title: String(data.source ?? "") }, this.editable ? "⟨⟩" : "");
    }
  }
}

type Kind = new (node: Node, view: EditorView, position: Position, around: Surroundings) => NodeView;

const VIEWS: Record<string, Kind> = {
  list_item: ItemView,
  hint: HintView,
  code_block: CodeView,
  images: ImagesView,
  image: CaptionedView,
  file: CaptionedView,
  embed: CaptionedView,
  drawing: PictureView,
  expandable: ExpandableView,
  expandable_title: TitleView,
  tabs: TabsView,
  tabs_item: PanelView,
  stepper_step: StepView,
  column: ColumnView,
  content_ref: ReferenceView,
  reusable_content: ReusableView,
  swagger: CardView,
  openapi_operation: CardView,
  openapi_schemas: CardView,
  openapi_webhook: CardView,
  integration: CardView,
  opaque: CardView,
  unknown: UnknownView,
  if: NamedView,
  update: NamedView,
  prompt: NamedView,
  api_method: NamedView,
  api_part: NamedView,
  math: FormulaView,
  icon: InlineView,
  inline_math: InlineView,
  inline_image: InlineView,
  button: InlineView,
  mention: InlineView,
  expression: InlineView,
  inline_unknown: InlineView,
  held: InlineView,
};

export function nodeViews(around: Surroundings): Record<string, NodeViewConstructor> {
  const plain = Object.values(schema.nodes)
    .filter((type) => type.isBlock && type.spec.attrs !== undefined && "data" in type.spec.attrs)
    .map((type): [string, Kind] => [type.name, PlainView]);
  const make = (View: Kind): NodeViewConstructor => (node, view, position) =>
    new View(node, view, position, around);
  return Object.fromEntries([...plain, ...Object.entries(VIEWS)].map(([name, View]) => [name, make(View)]));
}

/** The text of a note, shown on hover. */
function noteText(fragments: unknown): string {
  const texts = (value: unknown): string =>
    Array.isArray(value)
      ? value.map(texts).join("")
      : value === null || typeof value !== "object"
      ? ""
      : "text" in value
      ? String(value.text)
      : texts((value as Data).nodes ?? (value as Data).leaves);
  return texts(fragments);
}

export function markViews(around: Surroundings): Record<string, MarkViewConstructor> {
  return {
    annotation: (mark: Mark) => ({
      dom: h("span", { class: "noted", title: noteText(mark.attrs.fragments) }),
    }),
    link: (mark: Mark) => {
      const { ref, title } = mark.attrs.data as Data;
      const href = around.lookup.href(ref);
      if (href === undefined || isLost(ref)) {
        return { dom: h("span", { class: "broken", title: `${words.notFound} ${href ?? ""}`.trim() }) };
      }
      return { dom: h("a", { href, title: title as string | undefined, rel: "noopener" }) };
    },
  };
}

/** Show the tab that contains a position. */
export function reveal(view: EditorView, at: number): void {
  const place = view.state.doc.resolve(at);
  for (let depth = 1; depth <= place.depth; depth++) {
    if (place.node(depth).type.name !== "tabs_item") continue;
    const tabs = view.nodeDOM(place.before(depth - 1)) as
      | (HTMLElement & { pmViewDesc?: { spec?: unknown } })
      | null;
    const drawn = tabs?.pmViewDesc?.spec;
    if (drawn instanceof TabsView) drawn.choose(place.index(depth - 1));
  }
  const folded = (view.domAtPos(at).node as HTMLElement).parentElement?.closest?.("details:not([open])");
  folded?.setAttribute("open", "");
}
