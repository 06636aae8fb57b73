/** Makes the view of a page. The same view reads and edits: so text never moves between the two. */
import type { Node } from "prosemirror-model";
import { EditorState, type Plugin, type Transaction } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { highlighting } from "./highlighting.ts";
import type { Lookup } from "./lookup.ts";
import { type RemarkOptions, remarks as drawRemarks } from "./remarks.ts";
import { tableViews } from "./tables.ts";
import { markViews, nodeViews } from "./views.ts";

export interface MountOptions {
  doc: Node;
  lookup: Lookup;
  /** What is there for writing; none: the page is only read. */
  plugins?: Plugin[];
  /** Threads in the text. */
  remarks?: RemarkOptions;
  label?: string;
  onchange?: (view: EditorView, transaction: Transaction) => void;
}

export function mountPage(
  place: HTMLElement,
  { doc, lookup, plugins, remarks, label, onchange }: MountOptions,
): EditorView {
  const surroundings = { lookup };
  const editable = plugins !== undefined;
  return new EditorView({ mount: place }, {
    state: EditorState.create({
      doc,
      plugins: [highlighting(), ...(remarks ? [drawRemarks(remarks)] : []), ...(plugins ?? [])],
    }),
    editable: () => editable,
    nodeViews: { ...nodeViews(surroundings), ...tableViews(surroundings) },
    markViews: markViews(surroundings),
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
