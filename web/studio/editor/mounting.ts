/** Creates the view in which a page is edited. It has the same elements as the read-only view, so the text never
 * moves. */
import "./writing.css";
import "./boxes.css";
import { EditorState, NodeSelection } from "prosemirror-state";
import { type EditorProps, EditorView, type NodeViewConstructor } from "prosemirror-view";
import { readDocument } from "../document/convert.ts";
import { drawBlock } from "../document/richdrawing.ts";
import { schema } from "../document/schema.ts";
import { renderSpec } from "./dom.ts";
import { Drawn } from "./drawn.ts";
import { highlighting } from "./highlighting.ts";
import type { Lookup } from "./lookup.ts";
import { remarks } from "./threadmarks.ts";
import { richViews } from "./richviews.ts";
import type { MountOptions, Surroundings } from "./surroundings.ts";
import { markViews, plainViews } from "./views.ts";

/** A view defined by its elements and classes: a paragraph, a heading, a list. */
class PlainView extends Drawn {
  dom: HTMLElement;
  override contentDOM?: HTMLElement | null;

  constructor(...given: ConstructorParameters<typeof Drawn>) {
    super(...given);
    const { dom, contentDOM } = renderSpec(drawBlock(this.node));
    this.dom = dom;
    this.contentDOM = contentDOM ?? null;
  }
}

/** How the blocks and marks of a page are rendered. */
export function viewsOf(lookup: Lookup): Pick<EditorProps, "markViews" | "nodeViews"> {
  const around: Surroundings = {
    lookup,
    mount: (place, document) => Promise.resolve(mountPage(place, { doc: readDocument(document), lookup })),
    select: (view, position) => {
      view.dispatch(view.state.tr.setSelection(NodeSelection.create(view.state.doc, position)));
      view.focus();
    },
    // The code for editing is large, and reusable content is rarely edited in place.
    writeInPlace: async (options) => (await import("./inplace.ts")).writeInPlace(options, mountPage),
  };
  const plain = Object.values(schema.nodes)
    .filter((type) => type.isBlock && type.spec.attrs !== undefined && "data" in type.spec.attrs)
    .map((type): [string, NodeViewConstructor] => [
      type.name,
      (node, view, position) => new PlainView(node, view, position, around),
    ]);
  return {
    nodeViews: { ...Object.fromEntries(plain), ...plainViews(around), ...richViews(around) },
    markViews: markViews(around),
  };
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
