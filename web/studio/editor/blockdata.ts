/** The data of a block, and the data that depends on its place in the page. */
import type { EditorView } from "prosemirror-view";
import type { Data } from "../document/types.ts";

/** The width of a page's text in pixels. */
export const COLUMN = 736;

/** Change fields of a node's data; undefined removes a field. */
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
