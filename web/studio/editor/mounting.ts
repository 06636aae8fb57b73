/** Creates the view in which a page is edited. It has the same elements as the one for reading, so the text never moves. */
import { EditorState, NodeSelection } from "prosemirror-state";
import { type EditorProps, EditorView } from "prosemirror-view";
import { highlighting } from "./highlighting.ts";
import type { Lookup } from "./lookup.ts";
import { remarks } from "./threadmarks.ts";
import type { MountOptions, Surroundings } from "./surroundings.ts";
import { tableViews } from "./tables.ts";
import { markViews, nodeViews } from "./views.ts";

/** How the blocks and marks of a page are rendered. */
export function viewsOf(lookup: Lookup): Pick<EditorProps, "markViews" | "nodeViews"> {
  const around: Surroundings = {
    lookup,
    mount: mountPage,
    select: (view, position) => {
      view.dispatch(view.state.tr.setSelection(NodeSelection.create(view.state.doc, position)));
      view.focus();
    },
    // The code for editing is large, and reusable content is rarely edited in place.
    writeInPlace: async (options) => (await import("./inplace.ts")).writeInPlace(options, mountPage),
  };
  return { nodeViews: { ...nodeViews(around), ...tableViews(around) }, markViews: markViews(around) };
}

export function mountPage(
  place: HTMLElement,
  { doc, lookup, plugins, onremark, label, onchange }: MountOptions,
): EditorView {
  const editable = plugins !== undefined;
  return new EditorView({ mount: place }, {
    state: EditorState.create({
      doc,
      plugins: [highlighting(), ...(onremark ? [remarks(onremark)] : []), ...(plugins ?? [])],
    }),
    editable: () => editable,
    ...viewsOf(lookup),
    attributes: editable
      ? {
        role: "textbox",
        "aria-multiline": "true",
        "aria-label": label ?? "",
        class: "prose",
        spellcheck: "true",
      }
      : { class: "prose" },
    dispatchTransaction(this: EditorView, transaction) {
      const { state, transactions } = this.state.applyTransaction(transaction);
      this.updateState(state);
      for (const each of transactions) if (each.docChanged) onchange?.(this, each);
    },
  });
}
