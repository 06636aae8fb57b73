/** The gutter next to the block under the pointer: a button that adds a block below, and a grip for dragging and its menu. */
import { NodeSelection, Plugin, TextSelection, type Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Slice } from "prosemirror-model";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import { copyText } from "../parts/copying.ts";
import { notices } from "../state/notices.svelte.ts";
import type { Heading } from "./base.ts";
import {
  blockOf,
  deleteBlock,
  duplicateBlock,
  isMovable,
  severalBlocks,
  type Turn,
  turnInto,
} from "./blocks.ts";
import { moveOrLeave, putBesideAbove } from "./columns.ts";
import { h } from "./dom.ts";
import { type MenuItem, openMenu } from "./menu.ts";
import { chosen } from "./threadmarks.ts";
import { openSettings } from "./opening.ts";
import { headingsOf } from "./outline.ts";
import { openWith } from "./settingsopener.ts";
import { keyName, type ToolbarOptions } from "./toolbar.ts";
import { words } from "./words.ts";

openWith(openSettings);

export function blockHandle(options: ToolbarOptions): Plugin {
  return new Plugin({ view: (view) => new Handle(view, options) });
}

interface Place {
  position: number;
  element: HTMLElement;
}

/** Return the block at a vertical position in the window: a block of the page, or a list item in it. */
function blockAtHeight(view: EditorView, x: number, y: number): Place | undefined {
  const inside = view.dom.getBoundingClientRect();
  const left = Math.min(Math.max(x, inside.left + 4), inside.right - 4);
  const found = view.posAtCoords({ left, top: y });
  if (found === null) return undefined;
  const place = view.state.doc.resolve(found.inside >= 0 ? found.inside : found.pos);
  let best: number | undefined;
  // The rendered page can be slightly behind the document.
  const at = found.inside >= 0 ? view.state.doc.nodeAt(found.inside) : null;
  if (at && isMovable(at)) best = found.inside;
  // For nested blocks, the gutter belongs to the outer one, but list items and steps have their own.
  for (let depth = place.depth; depth > 0; depth--) {
    const node = place.node(depth);
    const { type } = place.node(depth - 1);
    if (
      isMovable(node) &&
      (depth === 1 || ["list_item", "stepper_step"].includes(node.type.name) ||
        ["hint_body", "column", "tabs_item", "stepper_step", "expandable_body"].includes(type.name))
    ) {
      best = place.before(depth);
      if (depth > 1) break;
    }
  }
  if (best === undefined) return undefined;
  const element = view.nodeDOM(best);
  return element instanceof HTMLElement ? { position: best, element } : undefined;
}

class Handle {
  #dom = h("div", { class: "handle", contenteditable: "false", hidden: true });
  #at: Place | undefined;
  #stop = new AbortController();

  constructor(private view: EditorView, private options: ToolbarOptions) {
    const grip = h("button", {
      type: "button",
      class: "grip",
      draggable: "true",
      tabindex: "-1",
      title: words.blockMenu,
      "aria-label": words.blockMenu,
      "aria-haspopup": "menu",
      onclick: () => this.#open(grip),
      ondragstart: (event: DragEvent) => this.#drag(event),
    });
    this.#dom.append(
      h("button", {
        type: "button",
        class: "add",
        tabindex: "-1",
        title: words.addBelow,
        "aria-label": words.addBelow,
        onclick: () => this.#add(),
      }, "+"),
      grip,
    );
    this.#dom.addEventListener(
      "mousedown",
      (event) => (event.target as HTMLElement).closest(".grip") || event.preventDefault(),
    );
    view.dom.parentElement!.append(this.#dom);
    const { signal } = this.#stop;
    document.addEventListener("mousemove", (event) => this.#follow(event), { signal, passive: true });
    view.dom.addEventListener("keydown", () => (this.#dom.hidden = true), { signal });
  }

  #follow(event: MouseEvent): void {
    if (event.buttons) return;
    const box = this.view.dom.getBoundingClientRect();
    const near = event.clientX > box.left - 80 && event.clientX < box.right + 80 &&
      event.clientY > box.top - 8 && event.clientY < box.bottom + 8;
    if (!near) {
      this.#dom.hidden = true;
      return;
    }
    if (this.#dom.contains(event.target as globalThis.Node)) return;
    this.#at = blockAtHeight(this.view, event.clientX, event.clientY);
    if (this.#at === undefined) {
      this.#dom.hidden = true;
      return;
    }
    this.#dom.hidden = false;
    const block = this.#at.element.getBoundingClientRect();
    const around = this.view.dom.parentElement!.getBoundingClientRect();
    const style = getComputedStyle(this.#at.element);
    const line = parseFloat(style.lineHeight) || 24;
    // The marker of an item is in the margin of its list.
    const margin = this.#at.element.tagName === "LI" && !this.#at.element.classList.contains("step") ? 28 : 0;
    const card = ["FIGURE", "DIV", "DETAILS"].includes(this.#at.element.tagName);
    this.#dom.style.setProperty(
      "top",
      `${
        block.top - around.top + (card ? 8 : (line - 28) / 2 + parseFloat(style.paddingBlockStart || "0"))
      }px`,
    );
    // In the gutter at the start of lines.
    const fromRight = getComputedStyle(this.view.dom).direction === "rtl";
    this.#dom.classList.toggle("rtl", fromRight);
    this.#dom.style.setProperty(
      "left",
      `${fromRight ? block.right - around.left + 4 + margin : block.left - around.left - 56 - margin}px`,
    );
  }

  /** Return the selected blocks if they are several and include the block of the handle. */
  #several(): ReturnType<typeof severalBlocks> {
    const several = severalBlocks(this.view.state);
    const at = this.#at?.position;
    return several && at !== undefined && at >= several.from && at < several.to ? several : undefined;
  }

  #choose(): boolean {
    if (this.#at === undefined || this.#at.position >= this.view.state.doc.content.size) return false;
    if (this.#several()) return true;
    const { doc } = this.view.state;
    const node = doc.nodeAt(this.#at.position);
    if (node === null || !NodeSelection.isSelectable(node)) return false;
    this.view.dispatch(this.view.state.tr.setSelection(NodeSelection.create(doc, this.#at.position)));
    return true;
  }

  #add(): void {
    if (this.#at === undefined) return;
    const { state } = this.view;
    const node = state.doc.nodeAt(this.#at.position);
    if (node === null) return;
    let at = this.#at.position + node.nodeSize;
    const made = node.type === schema.nodes.list_item
      ? schema.nodes.list_item!.create({
        data: node.attrs.data.checked === undefined ? {} : { checked: false },
      }, schema.nodes.paragraph!.create())
      : schema.nodes.paragraph!.create();
    const empty = node.type === schema.nodes.paragraph && !node.content.size;
    const transaction = state.tr;
    if (empty) at = this.#at.position;
    else if (
      state.doc.resolve(at).parent.canReplaceWith(
        state.doc.resolve(at).index(),
        state.doc.resolve(at).index(),
        made.type,
      )
    ) transaction.insert(at, made);
    else return;
    transaction.setSelection(TextSelection.near(transaction.doc.resolve(at + 1)));
    if (made.type === schema.nodes.paragraph) transaction.insertText("/");
    this.view.dispatch(transaction.scrollIntoView());
    this.view.focus();
  }

  #drag(event: DragEvent): void {
    if (!this.#choose() || event.dataTransfer === null) return event.preventDefault();
    const several = this.#several();
    const { doc, selection } = this.view.state;
    const slice: Slice = several ? doc.slice(several.from, several.to) : selection.content();
    const { dom, text } = this.view.serializeForClipboard(slice);
    event.dataTransfer.clearData();
    event.dataTransfer.setData("text/html", dom.innerHTML);
    event.dataTransfer.setData("text/plain", text);
    event.dataTransfer.effectAllowed = "copyMove";
    if (this.#at) event.dataTransfer.setDragImage(this.#at.element, 0, 0);
    const remove = (transaction: Transaction): void => {
      const now = severalBlocks(this.view.state);
      if (now) transaction.delete(now.from, now.to);
    };
    this.view.dragging = {
      slice,
      move: true,
      ...(several ? { node: { replace: remove } } : {}),
    } as unknown as EditorView["dragging"];
    this.#dropBetween();
  }

  /** Until the drag ends, a drop is above the block under the pointer in its upper half, and else below it. The
   * library decides by the position in the text, which depends on how far right the pointer is. */
  #dropBetween(): void {
    const { view } = this;
    const find = view.posAtCoords.bind(view);
    view.posAtCoords = (point) => {
      const found = find(point);
      if (!found) return null;
      const place = view.state.doc.resolve(found.pos);
      const depth = place.parent.isTextblock ? place.depth : 0;
      const element = depth ? view.nodeDOM(place.before(depth)) : null;
      if (!(element instanceof HTMLElement)) return found;
      const { top, height } = element.getBoundingClientRect();
      return { ...found, pos: point.top < top + height / 2 ? place.before(depth) : place.after(depth) };
    };
    addEventListener("dragend", () => (view.posAtCoords = find), { once: true });
  }

  #open(beside: HTMLElement): void {
    if (!this.#choose()) return;
    // With the focus, the browser selects the block, too, so that any click changes the selection.
    this.view.focus();
    openBlockMenu(this.view, beside, this.options);
  }

  update(): void {
    if (this.#at && !this.#at.element.isConnected) this.#dom.hidden = true;
  }

  destroy(): void {
    this.#stop.abort();
    this.#dom.remove();
  }
}

const TURN_ICONS: Record<Turn, string> = {
  paragraph: "paragraph",
  heading_1: "heading",
  heading_2: "heading",
  heading_3: "heading",
  list_unordered: "list-ul",
  list_ordered: "list-ol",
  list_tasks: "list-check",
  blockquote: "quote-left",
  hint: "circle-info",
  code_block: "code",
  expandable: "square-caret-down",
};

/** Return the place of the block of the selection in the window. */
export function boxOf(view: EditorView): DOMRect {
  const block = blockOf(view.state);
  const element = block && view.nodeDOM(block.position);
  return (element instanceof HTMLElement ? element : view.dom).getBoundingClientRect();
}

/** Open the menu of the selected block. */
export function openBlockMenu(
  view: EditorView,
  beside: HTMLElement | DOMRect,
  options: ToolbarOptions,
): void {
  const block = blockOf(view.state);
  if (block === undefined) return;
  const run = (command: typeof deleteBlock) => () => {
    command(view.state, view.dispatch, view);
    view.focus();
  };
  const about = chosen(view.state);
  const items: MenuItem[] = [
    { label: words.duplicate, icon: "regular/clone", keys: keyName("Mod-D"), run: run(duplicateBlock) },
    { label: words.moveUp, icon: "arrow-up", keys: keyName("Alt-↑"), run: run(moveOrLeave(-1)) },
    { label: words.moveDown, icon: "arrow-down", keys: keyName("Alt-↓"), run: run(moveOrLeave(1)) },
    {
      label: words.settings,
      icon: "gear",
      run: () => openSettings(view, block.position, view.nodeDOM(block.position) as HTMLElement),
    },
  ];
  if (putBesideAbove(view.state)) {
    items.splice(3, 0, { label: words.putBesideAbove, icon: "table-columns", run: run(putBesideAbove) });
  }
  const heading = headingsOf(view).find(({ element }) => element === view.nodeDOM(block.position));
  if (heading) {
    items.push({ label: t("copyLink"), icon: "link", run: () => copyHeadingLink(heading) });
  }
  const comment = options.comment;
  if (about && comment) {
    items.push({
      label: words.comment,
      icon: "regular/comment",
      keys: keyName("Mod-Alt-M"),
      run: () => comment(about),
    });
  }
  if (block.node.type.isInGroup("block") && block.node.type !== schema.nodes.if) {
    items.push({ label: words.whoSees, icon: "eye", run: run(wrapInCondition) });
  }
  const reuse = options.reuse;
  if (reuse && block.node.type.isInGroup("block") && block.node.type !== schema.nodes.reusable_content) {
    items.push({ label: words.makeReusable, icon: "recycle", run: () => reuse(view) });
  }
  items.push({
    label: words.delete,
    icon: "regular/trash-can",
    keys: "Del",
    danger: true,
    run: run(deleteBlock),
  });
  if (
    block.node.isTextblock ||
    [
      "list_item",
      "list_ordered",
      "list_unordered",
      "list_tasks",
      "blockquote",
      "hint",
      "code_block",
      "expandable",
    ].includes(block.node.type.name)
  ) {
    for (const [turn, label] of Object.entries(words.turns)) {
      items.push({
        label,
        icon: TURN_ICONS[turn as Turn],
        group: words.turnInto,
        run: run(turnInto(turn as Turn)),
      });
    }
  }
  openMenu(view, beside, words.blockMenu, items);
}

async function copyHeadingLink({ anchor }: Heading): Promise<void> {
  await notices.attempt(async () => {
    await copyText(`${location.origin}${location.pathname}#${encodeURIComponent(anchor)}`);
    notices.say(t("linkCopied"));
  });
}

const wrapInCondition: typeof deleteBlock = (state, dispatch) => {
  const block = blockOf(state);
  if (block === undefined) return false;
  const wrapped = schema.nodes.if!.create({ data: { expression: "visitor.claims.beta" } }, block.node);
  dispatch?.(
    state.tr.replaceWith(block.position, block.position + block.node.nodeSize, wrapped).scrollIntoView(),
  );
  return true;
};
