/**
 * Shows a page for reading, with the same elements as the editor. The editor itself, which is large, isn't loaded
 * for this.
 */
import type { Mark, Node } from "prosemirror-model";
import type { EditorView, MarkViewConstructor, NodeView, NodeViewConstructor } from "prosemirror-view";
import { drawMark, drawPlain } from "../document/drawing.ts";
import { shownDocument } from "../document/shown.ts";
import type { DocumentJson } from "../document/types.ts";
import type { About, Remark } from "./base.ts";
import { h, place, renderSpec } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import type { Lookup } from "./lookup.ts";
import { aboutBlock, aboutRange, markOf, placesOf, type RemarkPlace, scrollTo } from "./quotes.ts";
import type { Surroundings } from "./surroundings.ts";
import { showMerged } from "./tables.ts";
import { isRich, markViews, plainViews } from "./views.ts";
import { viewWords as words } from "./viewwords.ts";

export interface ReadingOptions {
  lookup: Lookup;
  /** Called to comment on a target; undefined if comments aren't offered. */
  oncomment?: (about: About) => void;
  /** Called to open a thread that is marked in the text. */
  onremark?: (id: string) => void;
}

/** A displayed block at the top level of the page. Positions inside it are relative to its start. */
interface Top {
  node: Node;
  start: number;
  dom: HTMLElement;
  views: NodeView[];
}

/** A displayed node: its top-level block, and its position in that block. */
interface Shown {
  node: Node;
  top: Top;
  at: number;
  /** The element that contains the node's content. */
  inside: HTMLElement | undefined;
}

/** A class for a part of a text: colors of code, and threads. */
interface Span {
  from: number;
  to: number;
  attributes: Record<string, string>;
}

/** The views for types that few pages have; undefined until a page has one. */
let rich: typeof import("./richviews.ts") | undefined;

/** Return the nodes of a page, after loading the code that renders them. */
async function load(document: DocumentJson): Promise<Node> {
  const doc = shownDocument(document);
  if (isRich(doc)) rich ??= await import("./richviews.ts");
  return doc;
}

/** Show a page in an element. */
export async function showPage(
  element: HTMLElement,
  document: DocumentJson,
  options: ReadingOptions,
): Promise<ReadingView> {
  return new ReadingView(element, await load(document), options);
}

export class ReadingView {
  readonly editable = false;
  readonly dom: HTMLElement;
  #doc: Node;
  #tops: Top[] = [];
  #shown = new WeakMap<globalThis.Node, Shown>();
  /** The positions of texts in their top-level block. */
  #texts = new WeakMap<globalThis.Node, { top: Top; at: number }>();
  #remarks: Remark[] = [];
  #active: string | undefined;
  #marked = new Set<Top>();
  #nodeViews: Record<string, NodeViewConstructor>;
  #markViews: Record<string, MarkViewConstructor>;
  #stop = new AbortController();
  #around: Surroundings;
  /** The block that was clicked last. */
  #clicked: Node | undefined;

  constructor(element: HTMLElement, doc: Node, { lookup, oncomment, onremark }: ReadingOptions) {
    this.#around = {
      lookup,
      mount: (inside, page) => showPage(inside, page, { lookup }),
      select: () => {},
      writeInPlace: () => Promise.reject(new Error("not editable")),
    };
    this.#nodeViews = this.#views();
    this.#markViews = markViews(this.#around);
    this.#doc = doc;
    this.dom = element;
    element.classList.add("ProseMirror", "prose");
    this.#draw(0, 0, doc);
    element.addEventListener("click", (event) => {
      const target = event.target as Element;
      this.#clicked = this.#nodeAt(target);
      const id = target.closest("[data-remark]")?.getAttribute("data-remark");
      if (id && !target.closest("a, button")) onremark?.(id);
    }, { signal: this.#stop.signal });
    if (oncomment) this.#offer(oncomment);
  }

  #views(): Record<string, NodeViewConstructor> {
    return { ...plainViews(this.#around), ...rich?.richViews(this.#around) };
  }

  get state(): { doc: Node } {
    return { doc: this.#doc };
  }

  /** Return the element of the node at a position. */
  nodeDOM(position: number): HTMLElement | undefined {
    const top = this.#tops.findLast(({ start }) => start <= position);
    if (!top) return undefined;
    if (top.start === position) return top.dom;
    const inside = [...top.dom.querySelectorAll<HTMLElement>("*")];
    return inside.find((one) => this.#shown.get(one)?.at === position - top.start);
  }

  /** Show another version. Unchanged blocks at the start and end stay the same elements. */
  async update(document: DocumentJson): Promise<void> {
    const doc = await load(document);
    if (this.#stop.signal.aborted) return;
    this.#nodeViews = this.#views();
    const before = this.#tops;
    const most = Math.min(before.length, doc.childCount);
    let start = 0;
    while (start < most && before[start]!.node.eq(doc.child(start))) start++;
    let end = 0;
    while (
      end < most - start && before.at(-1 - end)!.node.eq(doc.child(doc.childCount - 1 - end))
    ) end++;
    this.#doc = doc;
    this.#draw(start, end, doc);
    this.#mark(new Set(this.#tops));
  }

  /** Mark these threads in the text. Returns their IDs in text order. */
  showRemarks(remarks: Remark[], active?: string): string[] {
    const same = JSON.stringify([this.#remarks, this.#active]) === JSON.stringify([remarks, active]);
    this.#remarks = remarks;
    this.#active = active;
    if (!same) this.#mark(this.#marked);
    return placesOf(this.#doc, remarks).map(({ remark }) => remark.id);
  }

  /** Scroll to the target of a thread. Return false if the target is no longer on the page. */
  showRemark(remark: Remark): boolean {
    const [found] = placesOf(this.#doc, [remark]);
    if (!found) return false;
    const $from = this.#doc.resolve(found.from);
    scrollTo(this.nodeDOM(found.whole ? found.from : $from.before()));
    return true;
  }

  /** Return the selection as the target of a comment; without one, the block that was clicked last. */
  chosen(): About | undefined {
    const range = this.#range();
    const [from, to] = [
      range && this.#position(range.startContainer, range.startOffset),
      range &&
      this.#position(range.endContainer, range.endOffset),
    ];
    if (from === undefined) return this.#clicked && aboutBlock(this.#clicked);
    return aboutRange(this.#doc.resolve(from), this.#doc.resolve(Math.max(from, to ?? from)));
  }

  destroy(): void {
    this.#stop.abort();
    for (const top of this.#tops) for (const view of top.views) view.destroy?.();
    this.dom.replaceChildren();
  }

  // --- rendering -------------------------------------------------------------------------------------------

  /** Render the blocks of a document, except those at the start and end that are already shown. */
  #draw(start: number, end: number, doc: Node): void {
    const before = this.#tops;
    const kept = [...before.slice(0, start), ...end ? before.slice(-end) : []];
    for (const top of before.slice(start, before.length - end)) {
      top.dom.remove();
      for (const view of top.views) view.destroy?.();
    }
    const next = end ? before.at(-end)!.dom : null;
    this.#tops = [];
    doc.forEach((node, offset, at) => {
      const old = at < start
        ? kept[at]
        : at >= doc.childCount - end
        ? kept.at(at - doc.childCount)
        : undefined;
      const top: Top = old ?? { node, start: offset, dom: this.dom, views: [] };
      top.start = offset;
      top.node = node;
      this.#tops.push(top);
      if (!old) this.dom.insertBefore(top.dom = this.#block(node, top, 0), next);
    });
  }

  /** Render a block with everything inside it. `at`: its position in its top-level block. */
  #block(node: Node, top: Top, at: number): HTMLElement {
    const make = this.#nodeViews[node.type.name];
    let dom: HTMLElement;
    let inside: HTMLElement | null | undefined;
    if (make) {
      // Views only need this much of an editor to render a page that isn't edited.
      const view = make(node, this as unknown as EditorView, () => top.start + at, [], null as never);
      top.views.push(view);
      dom = view.dom as HTMLElement;
      inside = view.contentDOM;
    } else {
      const spec = drawPlain(node) ?? (node.isInline ? rich!.drawInline(node) : rich!.drawBlock(node));
      const made = renderSpec(spec);
      dom = made.dom;
      inside = made.contentDOM;
    }
    this.#shown.set(dom, { node, top, at, inside: inside ?? undefined });
    if (inside && node.isTextblock) this.#inlines(node, top, at, inside, []);
    else if (inside) {
      const content = inside;
      node.forEach((child, offset) => content.append(this.#block(child, top, at + 1 + offset)));
      if (node.type.name === "table") showMerged(node, content);
    }
    return dom;
  }

  /** Render the content of a text block. `marked`: the threads in it. */
  #inlines(node: Node, top: Top, at: number, into: HTMLElement, marked: Span[]): void {
    into.replaceChildren();
    // An empty block is as high as a line.
    if (!node.content.size) into.append(h("br", { class: "ProseMirror-trailingBreak" }));
    const syntax = node.type.name === "code_line" ? this.#syntaxOf(top, at) : undefined;
    const spans: Span[] = [
      ...syntax === undefined ? [] : rich!.colorsOf(node, syntax).map(({ from, to, kind }) => ({
        from,
        to,
        attributes: { class: kind },
      })),
      ...marked,
    ];
    const open: { mark: Mark; dom: HTMLElement }[] = [];
    node.forEach((child, offset) => {
      // Adjacent texts with the same mark are in one element.
      let same = 0;
      while (same < open.length && same < child.marks.length && open[same]!.mark.eq(child.marks[same]!)) {
        same++;
      }
      open.length = same;
      for (const mark of child.marks.slice(same)) {
        const dom = this.#markElement(mark);
        (open.at(-1)?.dom ?? into).append(dom);
        open.push({ mark, dom });
      }
      const parent = open.at(-1)?.dom ?? into;
      if (child.isText) parent.append(...this.#text(child.text!, offset, spans, top, at + 1));
      else parent.append(this.#block(child, top, at + 1 + offset));
    });
  }

  #markElement(mark: Mark): HTMLElement {
    const make = this.#markViews[mark.type.name];
    if (make) return make(mark, this as unknown as EditorView, true).dom as HTMLElement;
    return renderSpec(drawMark(mark)).dom;
  }

  /** Render a text in parts, each in the spans that contain it. `start`: the position of its block's content. */
  #text(text: string, offset: number, spans: Span[], top: Top, start: number): globalThis.Node[] {
    const end = offset + text.length;
    const within = spans.filter(({ from, to }) => from < end && to > offset);
    const cuts = [offset, end, ...within.flatMap(({ from, to }) => [from, to])];
    const edges = [...new Set(cuts.map((cut) => Math.min(Math.max(cut, offset), end)))].sort((a, b) => a - b);
    return edges.slice(1).map((to, number) => {
      const from = edges[number]!;
      let dom: globalThis.Node = document.createTextNode(text.slice(from - offset, to - offset));
      this.#texts.set(dom, { top, at: start + from });
      for (const span of within) {
        if (span.from <= from && span.to >= to) dom = h("span", span.attributes, dom as HTMLElement);
      }
      return dom;
    });
  }

  #syntaxOf(top: Top, at: number): string {
    const code = top.node.resolve(Math.max(0, at - 1)).parent;
    return String((code.attrs.data as { syntax?: string } | undefined)?.syntax ?? "");
  }

  /** Mark the threads again, in these blocks and in those that now have threads. */
  #mark(before: Set<Top>): void {
    const places = new Map<Top, RemarkPlace[]>();
    for (const found of placesOf(this.#doc, this.#remarks)) {
      const top = this.#tops.findLast(({ start }) => start <= found.from);
      if (top) places.set(top, [...places.get(top) ?? [], found]);
    }
    this.#marked = new Set(places.keys());
    for (const top of new Set([...before, ...this.#marked])) this.#markIn(top, places.get(top) ?? []);
  }

  #markIn(top: Top, places: RemarkPlace[]): void {
    for (const dom of [top.dom, ...top.dom.querySelectorAll<HTMLElement>("*")]) {
      const shown = this.#shown.get(dom);
      if (shown?.top !== top) continue;
      const { node } = shown;
      const at = shown.at + top.start;
      if (dom.hasAttribute("data-remark")) {
        dom.classList.remove("remark", "whole", "active");
        dom.removeAttribute("data-remark");
      }
      const whole = places.find((one) => one.whole && one.from === at);
      if (whole) {
        const { class: names, ...attributes } = markOf(whole, this.#active);
        dom.classList.add(...names.split(" "));
        for (const [name, value] of Object.entries(attributes)) dom.setAttribute(name, value);
      }
      if (!node.isTextblock || !shown.inside) continue;
      const start = at + 1;
      const inside = places.filter((one) => !one.whole && one.from >= start && one.to <= at + node.nodeSize)
        .map((one) => ({
          from: one.from - start,
          to: one.to - start,
          attributes: markOf(one, this.#active),
        }));
      if (!inside.length && !shown.inside.querySelector("span[data-remark]")) continue;
      this.#inlines(node, top, shown.at, shown.inside, inside);
    }
  }

  // --- the selection ---------------------------------------------------------------------------------------

  #range(): Range | undefined {
    const selection = getSelection();
    if (!selection?.rangeCount || selection.isCollapsed) return undefined;
    const range = selection.getRangeAt(0);
    return this.dom.contains(range.startContainer) ? range : undefined;
  }

  /** Return the position in the document of a position in an element. */
  #position(container: globalThis.Node, offset: number): number | undefined {
    const text = this.#texts.get(container);
    if (text) return text.top.start + text.at + offset;
    const walker = document.createTreeWalker(this.dom, NodeFilter.SHOW_TEXT);
    walker.currentNode = container.childNodes[offset] ?? container;
    for (let node: globalThis.Node | null = walker.currentNode; node; node = walker.nextNode()) {
      const found = this.#texts.get(node);
      if (found) return found.top.start + found.at;
    }
    return undefined;
  }

  /** Return the innermost node with a key around an element. */
  #nodeAt(target: Element): Node | undefined {
    for (let dom: Element | null = target; dom && dom !== this.dom; dom = dom.parentElement) {
      const node = this.#shown.get(dom)?.node;
      if (node?.attrs.key) return node;
    }
    return undefined;
  }

  /** Show a button above the selection for commenting on the selected text. */
  #offer(comment: (about: About) => void): void {
    const dom = h(
      "div",
      { class: "menu toolbar", role: "toolbar", "aria-label": words.toolbar, hidden: true },
      h(
        "button",
        {
          type: "button",
          onclick: () => {
            const about = this.chosen();
            dom.hidden = true;
            if (about) comment(about);
          },
        },
        drawIcon("comment"),
        words.comment,
      ),
    );
    dom.addEventListener("mousedown", (event) => event.preventDefault());
    document.body.append(dom);
    const { signal } = this.#stop;
    signal.addEventListener("abort", () => dom.remove());
    const hide = (): void => void (dom.hidden = true);
    const look = (): void => {
      const range = this.#range();
      dom.hidden = !range || this.#position(range.startContainer, range.startOffset) === undefined;
      if (range && !dom.hidden) place(dom, range.getClientRects()[0] ?? range.getBoundingClientRect(), true);
    };
    document.addEventListener("pointerup", () => setTimeout(look, 10), { signal });
    document.addEventListener("keyup", look, { signal });
    document.addEventListener("pointerdown", (event) => {
      if (!dom.contains(event.target as globalThis.Node)) hide();
    }, { signal });
    document.addEventListener("scroll", hide, { signal, capture: true, passive: true });
  }
}
