/** Marks the text and blocks that have threads, opens a thread when it is clicked, and returns the current target of
 * a comment. */
import type { Node } from "prosemirror-model";
import { type EditorState, NodeSelection, Plugin, PluginKey, Selection } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import type { About, Remark } from "./base.ts";
import { aboutBlock, aboutRange, markOf, placesOf, scrollTo } from "./quotes.ts";
import { readInput } from "./pendinginput.ts";

interface State {
  remarks: Remark[];
  active?: string;
  marks: DecorationSet;
}

const key = new PluginKey<State>("remarks");

function draw(doc: Node, remarks: Remark[], active?: string): DecorationSet {
  return DecorationSet.create(
    doc,
    placesOf(doc, remarks).map((place) => {
      const { from, to, whole } = place;
      const attributes = markOf(place, active);
      return whole ? Decoration.node(from, to, attributes) : Decoration.inline(from, to, attributes);
    }),
  );
}

/** Return the selection as the target of a comment. */
export function chosen(state: EditorState): About | undefined {
  const { selection } = state;
  const node = selection instanceof NodeSelection ? selection.node : undefined;
  return node?.attrs.key ? aboutBlock(node) : aboutRange(selection.$from, selection.$to);
}

/** Mark these threads in the text. Returns their IDs in text order. */
export function showRemarks(view: EditorView, remarks: Remark[], active?: string): string[] {
  const before = key.getState(view.state);
  if (before && (JSON.stringify([before.remarks, before.active]) !== JSON.stringify([remarks, active]))) {
    view.dispatch(readInput(view).tr.setMeta(key, { remarks, active }));
  }
  return placesOf(view.state.doc, remarks).map(({ remark }) => remark.id);
}

/** Scroll to the target of a thread. Return false if the target is no longer on the page. */
export function showRemark(view: EditorView, remark: Remark): boolean {
  const [found] = placesOf(view.state.doc, [remark]);
  if (!found) return false;
  const element = view.domAtPos(found.from + (found.whole ? 1 : 0)).node;
  const target = element instanceof HTMLElement ? element : element.parentElement;
  scrollTo(target);
  return true;
}

/** Move the caret to the first text in the block at a position. Touch keyboards stay closed. */
export function placeCaret(view: EditorView, position: number): void {
  const { tr, doc } = readInput(view);
  view.dispatch(tr.setSelection(Selection.near(doc.resolve(position + 1))));
  if (matchMedia("(pointer: fine)").matches) view.focus();
}

/** Return the plugin that marks threads. `open`: called to open a thread. */
export function remarks(open?: (id: string) => void): Plugin<State> {
  return new Plugin<State>({
    key,
    state: {
      init: () => ({ remarks: [], marks: DecorationSet.empty }),
      apply(transaction, before, _, state) {
        const update = transaction.getMeta(key) as Pick<State, "remarks" | "active"> | undefined;
        if (update) return { ...update, marks: draw(state.doc, update.remarks, update.active) };
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
  });
}
