/** Marks the text and blocks that have threads. A click opens the thread. Returns the current target of a comment. */
import type { Node } from "prosemirror-model";
import { type EditorState, NodeSelection, Plugin, PluginKey } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import type { About, Remark } from "./base.ts";
import { h, place } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { words } from "./words.ts";

interface State {
  remarks: Remark[];
  active?: string;
  marks: DecorationSet;
}

const key = new PluginKey<State>("remarks");
const MOST_QUOTED = 300;

/** Return the letters of a text block with their positions; anything else is left out. */
function lettersOf(block: Node, start: number): { text: string; at: number[] } {
  let text = "";
  const at: number[] = [];
  block.forEach((child, offset) => {
    if (!child.isText) return;
    for (let number = 0; number < child.text!.length; number++) at.push(start + offset + number);
    text += child.text!;
  });
  return { text, at };
}

function findQuote(node: Node, position: number, quote: string): { from: number; to: number } | undefined {
  let found: { from: number; to: number } | undefined;
  const look = (block: Node, start: number): void => {
    const { text, at } = lettersOf(block, start);
    const first = text.indexOf(quote);
    if (first >= 0) found = { from: at[first]!, to: at[first + quote.length - 1]! + 1 };
  };
  if (node.isTextblock) look(node, position + 1);
  else {
    node.descendants((child, offset) => {
      if (!found && child.isTextblock) look(child, position + 1 + offset + 1);
      return !found;
    });
  }
  return found;
}

function placesOf(
  doc: Node,
  remarks: Remark[],
): { remark: Remark; from: number; to: number; whole: boolean }[] {
  const found: ReturnType<typeof placesOf> = [];
  if (!remarks.length) return found;
  doc.descendants((node, position) => {
    for (const remark of remarks) {
      if (!node.attrs.key || remark.node !== node.attrs.key) continue;
      const range = remark.quote ? findQuote(node, position, remark.quote) : undefined;
      if (range) found.push({ remark, ...range, whole: false });
      else found.push({ remark, from: position, to: position + node.nodeSize, whole: true });
    }
    return node.isBlock && !node.isTextblock;
  });
  return found.sort((one, other) => one.from - other.from);
}

function draw(doc: Node, remarks: Remark[], active?: string): DecorationSet {
  return DecorationSet.create(
    doc,
    placesOf(doc, remarks).map(({ remark, from, to, whole }) => {
      const attributes = {
        class: `remark${whole ? " whole" : ""}${remark.id === active ? " active" : ""}`,
        "data-remark": remark.id,
      };
      return whole ? Decoration.node(from, to, attributes) : Decoration.inline(from, to, attributes);
    }),
  );
}

/** Return the selection: the innermost block with a key, and the selected text in it. */
export function chosen(state: EditorState): About | undefined {
  const { selection } = state;
  const { $from, $to } = selection;
  const node = selection instanceof NodeSelection ? selection.node : undefined;
  if (node?.attrs.key) return { block: node.attrs.key, words: shortly(node.textContent) };
  for (let depth = $from.depth; depth > 0; depth--) {
    const block = $from.node(depth);
    if (!block.attrs.key) continue;
    const about: About = { block: block.attrs.key, words: shortly(block.textContent) };
    if (selection.empty || !$from.parent.isTextblock) return about;
    const { text, at } = lettersOf($from.parent, $from.start());
    const end = Math.min($to.pos, $from.end());
    const before = (position: number): number => at.filter((each) => each < position).length;
    const quote = text.slice(before($from.pos), before(end)).trim();
    return quote && quote.length <= MOST_QUOTED ? { ...about, quote } : about;
  }
  return undefined;
}

function shortly(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79).trimEnd()}…` : text;
}

/** Mark these threads in the text. Returns their ids in text order. */
export function showRemarks(view: EditorView, remarks: Remark[], active?: string): string[] {
  const before = key.getState(view.state);
  if (before && (JSON.stringify([before.remarks, before.active]) !== JSON.stringify([remarks, active]))) {
    view.dispatch(view.state.tr.setMeta(key, { remarks, active }));
  }
  return placesOf(view.state.doc, remarks).map(({ remark }) => remark.id);
}

/** Scroll to the target of a thread; false if it is no longer on the page. */
export function showRemark(view: EditorView, remark: Remark): boolean {
  const [found] = placesOf(view.state.doc, [remark]);
  if (!found) return false;
  const element = view.domAtPos(found.from + (found.whole ? 1 : 0)).node;
  const target = element instanceof HTMLElement ? element : element.parentElement;
  const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
  target?.scrollIntoView({ block: "center", behavior: quiet ? "auto" : "smooth" });
  return true;
}

export interface RemarkOptions {
  /** Called to comment on a target. */
  comment?: (about: About) => void;
  /** Called to open a thread. */
  open?: (id: string) => void;
}

export function remarks({ comment, open }: RemarkOptions): Plugin<State> {
  return new Plugin<State>({
    key,
    state: {
      init: () => ({ remarks: [], marks: DecorationSet.empty }),
      apply(transaction, before, _, state) {
        const told = transaction.getMeta(key) as Pick<State, "remarks" | "active"> | undefined;
        if (told) return { ...told, marks: draw(state.doc, told.remarks, told.active) };
        if (!transaction.docChanged || !before.remarks.length) return before;
        // The target of a thread can come back with an undo.
        return { ...before, marks: draw(state.doc, before.remarks, before.active) };
      },
    },
    props: {
      decorations: (state) => key.getState(state)?.marks,
      handleClick(_view, _position, event) {
        const id = (event.target as Element).closest?.("[data-remark]")?.getAttribute("data-remark");
        if (id && !(event.target as Element).closest("a, button")) open?.(id);
        return false;
      },
    },
    ...(comment ? { view: (view) => new Offer(view, comment) } : {}),
  });
}

/** A button above the selection of a page that is read: comments on the selected text. */
class Offer {
  #button = h(
    "button",
    { type: "button", onclick: () => this.#take() },
    drawIcon("comment"),
    words.comment,
  );
  #dom = h(
    "div",
    { class: "menu toolbar", role: "toolbar", "aria-label": words.toolbar, hidden: true },
    this.#button,
  );
  #stop = new AbortController();

  constructor(private view: EditorView, private comment: (about: About) => void) {
    this.#dom.addEventListener("mousedown", (event) => event.preventDefault());
    document.body.append(this.#dom);
    const { signal } = this.#stop;
    const look = (): void => this.#look();
    document.addEventListener("pointerup", () => setTimeout(look, 10), { signal });
    document.addEventListener("keyup", look, { signal });
    document.addEventListener("pointerdown", (event) => {
      if (!this.#dom.contains(event.target as globalThis.Node)) this.#dom.hidden = true;
    }, { signal });
    document.addEventListener("scroll", () => (this.#dom.hidden = true), {
      signal,
      capture: true,
      passive: true,
    });
  }

  #look(): void {
    const selection = getSelection();
    const { state } = this.view;
    const inside = selection && !selection.isCollapsed && this.view.dom.contains(selection.anchorNode);
    if (this.view.editable || !inside || state.selection.empty) {
      this.#dom.hidden = true;
      return;
    }
    this.#dom.hidden = false;
    const start = this.view.coordsAtPos(state.selection.from);
    place(this.#dom, start, true);
  }

  #take(): void {
    const about = chosen(this.view.state);
    this.#dom.hidden = true;
    if (about) this.comment(about);
  }

  destroy(): void {
    this.#stop.abort();
    this.#dom.remove();
  }
}
