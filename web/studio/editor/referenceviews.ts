/** Node views for references to other pages and for reusable content. */
import type { ViewMutationRecord } from "prosemirror-view";
import { classes, emojiText, urlOf } from "../document/drawing.ts";
import { valueText } from "../document/richdrawing.ts";
import type { Data } from "../document/types.ts";
import { h, sign } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import type { Target } from "./referenced.ts";
import { openSettings } from "./opening.ts";
import { viewWords as words } from "./viewwords.ts";
import { dataOf, Drawn } from "./drawn.ts";

/** A reference, shown as a card that fills the width. */
export class ReferenceView extends Drawn {
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
export class CardView extends Drawn {
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

/** Reusable content with its text. In a change request, it can be edited in place, which changes all its uses. */
export class ReusableView extends Drawn {
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
      import("./storeddrafts.ts").then(({ leftDrafts }) => leftDrafts(space, own.change, own.id)).then(
        (left) => {
          if (left.length && !this.#gone) void this.#write(own);
        },
        () => {},
      );
    }
  }

  /** Return the location where the content can be edited. The content must belong to this space, and the page to a
   * change request. */
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
      const place = h("div");
      const inside = await this.around.mount(place, found.document);
      if (this.#writes || this.#gone) return inside.destroy();
      this.#inside?.destroy();
      this.#inside = inside;
      this.#body.replaceChildren(place);
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

  /** Return true for all events, because the inner editor handles its own events. */
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
