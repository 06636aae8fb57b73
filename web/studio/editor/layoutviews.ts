/** Node views for blocks with titles, panels, steps, and columns. */
import type { Node } from "prosemirror-model";
import { classes } from "../document/drawing.ts";
import { columnClass } from "../document/richdrawing.ts";
import type { Data } from "../document/types.ts";
import { h, set } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { openSettings } from "./opening.ts";
import { viewWords as words } from "./viewwords.ts";
import { dataOf, Drawn } from "./drawn.ts";

export class ExpandableView extends Drawn {
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

export class TitleView extends Drawn {
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

export class TabsView extends Drawn {
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
    // Marks of other people can stand between the panels.
    const panels = this.contentDOM.querySelectorAll(":scope > [role=tabpanel]");
    panels.forEach((panel, number) => set(panel, { hidden: number !== this.#chosen }));
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

export class PanelView extends Drawn {
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

export class StepView extends Drawn {
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

export class ColumnView extends Drawn {
  dom: HTMLElement;
  override contentDOM: HTMLElement;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    this.dom = this.contentDOM = h("div", { class: columnClass(dataOf(this.node)) });
  }
}
