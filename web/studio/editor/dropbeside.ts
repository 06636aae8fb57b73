/** Drops of a dragged block at the side of another one, which put the two into columns. */
import { NodeSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { putBeside, type Side } from "./columns.ts";
import { h } from "./dom.ts";

/** The widths in pixels of the sides at which a block is dropped beside another one: at the end of lines and, because
 * blocks are mostly dragged along the start of lines, a narrow one there. */
const END = 96;
const START = 14;

interface Spot {
  target: number;
  side: Side;
  box: DOMRect;
  right: boolean;
}

/** Return the block at whose side the pointer is, if the dragged block can be there. */
function spotAt(view: EditorView, event: DragEvent): Spot | undefined {
  const { selection } = view.state;
  if (!view.dragging || !(selection instanceof NodeSelection)) return undefined;
  const around = view.dom.getBoundingClientRect();
  const left = Math.min(Math.max(event.clientX, around.left + 4), around.right - 4);
  const found = view.posAtCoords({ left, top: event.clientY });
  if (!found) return undefined;
  const place = view.state.doc.resolve(found.inside >= 0 ? found.inside : found.pos);
  const positions = found.inside >= 0 ? [found.inside] : [];
  for (let depth = place.depth; depth > 0; depth--) positions.push(place.before(depth));
  for (const target of positions) {
    const element = view.nodeDOM(target);
    if (!(element instanceof HTMLElement) || !view.state.doc.nodeAt(target)?.type.isInGroup("block")) {
      continue;
    }
    const box = element.getBoundingClientRect();
    const fromRight = getComputedStyle(view.dom).direction === "rtl";
    const [start, end] = fromRight
      ? [box.right - event.clientX, event.clientX - box.left]
      : [event.clientX - box.left, box.right - event.clientX];
    const side = end < Math.min(END, box.width / 4)
      ? "after"
      : start >= 0 && start < START
      ? "before"
      : undefined;
    if (side && putBeside(selection.from, target, side)(view.state)) {
      return { target, side, box, right: (side === "after") !== fromRight };
    }
  }
  return undefined;
}

/** Handle drops at the side of blocks until the returned function is called. */
export function dropBeside(view: EditorView): () => void {
  const line = h("div", { class: "drop-side", hidden: true });
  const stop = new AbortController();
  const around = view.dom.parentElement!;
  around.append(line);
  const hide = (): void => {
    line.hidden = true;
  };
  const handle = (event: DragEvent): Spot | undefined => {
    const spot = spotAt(view, event);
    line.hidden = !spot;
    if (!spot) return undefined;
    // The library would drop it above or below.
    event.preventDefault();
    event.stopPropagation();
    return spot;
  };
  const options = { capture: true, signal: stop.signal };
  around.addEventListener("dragover", (event) => {
    const spot = handle(event);
    if (!spot) return;
    const outer = around.getBoundingClientRect();
    const { box } = spot;
    line.style.setProperty("top", `${box.top - outer.top}px`);
    line.style.setProperty("height", `${box.height}px`);
    line.style.setProperty("left", `${(spot.right ? box.right + 4 : box.left - 8) - outer.left}px`);
  }, options);
  around.addEventListener("drop", (event) => {
    const spot = handle(event);
    hide();
    if (!spot) return;
    putBeside(view.state.selection.from, spot.target, spot.side)(view.state, view.dispatch);
    view.focus();
  }, options);
  around.addEventListener("dragend", hide, options);
  around.addEventListener("dragleave", hide, options);
  return () => {
    stop.abort();
    line.remove();
  };
}
