/** What a block carries beside its text, and what its place in the page gives it. */
import type { EditorView } from "prosemirror-view";
import type { Data } from "../document/types.ts";

/** How wide the text of a page is, in pixels. */
export const COLUMN = 736;

/** Changes fields of a node's data; undefined takes one away. */
export function setData(
  view: EditorView,
  position: number | undefined,
  fields: Record<string, unknown>,
): void {
  const node = position === undefined ? null : view.state.doc.nodeAt(position);
  if (node === null) return;
  const data = Object.fromEntries(
    Object.entries({ ...(node.attrs.data as Data), ...fields }).filter(([, value]) => value !== undefined),
  );
  view.dispatch(view.state.tr.setNodeAttribute(position!, "data", data));
}
