/** Node views of the blocks that most pages have. */
import type { Node } from "prosemirror-model";
import { setData } from "./blockdata.ts";
import { h, set } from "./dom.ts";
import { viewWords as words } from "./viewwords.ts";
import { dataOf, Drawn } from "./drawn.ts";

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
