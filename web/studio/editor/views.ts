/** The views for the nodes and marks that most pages have. Everything except text isn't editable and handles its own
 * events. */
import type { Mark, Node } from "prosemirror-model";
import type { EditorView, MarkViewConstructor, NodeView, NodeViewConstructor } from "prosemirror-view";
import type { Data } from "../document/types.ts";
import { h } from "./dom.ts";
import { isLost } from "./referenced.ts";
import type { Surroundings } from "./surroundings.ts";
import { viewWords as words } from "./viewwords.ts";
import { ItemView } from "./blockviews.ts";
import type { Position } from "./drawn.ts";
import { tableViews } from "./tables.ts";

export type Kind = new (node: Node, view: EditorView, position: Position, around: Surroundings) => NodeView;

/** The types that most pages have. Pages with others load `richviews.ts`. */
const PLAIN = new Set([
  "paragraph",
  "heading_1",
  "heading_2",
  "heading_3",
  "list_ordered",
  "list_unordered",
  "list_tasks",
  "list_item",
  "divider",
  "blockquote",
  "table",
  "table_head",
  "table_row",
  "table_heading",
  "table_cell",
  "text",
  "hard_break",
  "emoji",
]);

export function makeViews(
  views: Record<string, Kind>,
  around: Surroundings,
): Record<string, NodeViewConstructor> {
  const make = (View: Kind): NodeViewConstructor => (node, view, position) =>
    new View(node, view, position, around);
  return Object.fromEntries(Object.entries(views).map(([name, View]) => [name, make(View)]));
}

/** Return the views for the types that most pages have. */
export const plainViews = (around: Surroundings): Record<string, NodeViewConstructor> => ({
  ...makeViews({ list_item: ItemView }, around),
  ...tableViews(),
});

/** Return whether a page has blocks or inline nodes that need `richviews.ts`. */
export function isRich(doc: Node): boolean {
  let found = false;
  doc.descendants((node) => {
    found ||= !PLAIN.has(node.type.name);
    return !found;
  });
  return found;
}

/** Return the text of a note, which is shown on hover. */
export function noteText(fragments: unknown): string {
  const texts = (value: unknown): string =>
    Array.isArray(value)
      ? value.map(texts).join("")
      : value === null || typeof value !== "object"
      ? ""
      : "text" in value
      ? String(value.text)
      : texts((value as Data).nodes ?? (value as Data).leaves);
  return texts(fragments);
}

export function markViews(around: Surroundings): Record<string, MarkViewConstructor> {
  return {
    annotation: (mark: Mark) => ({
      dom: h("span", { class: "noted", title: noteText(mark.attrs.fragments) }),
    }),
    link: (mark: Mark) => {
      const { ref, title } = mark.attrs.data as Data;
      const href = around.lookup.href(ref);
      if (href === undefined || isLost(ref)) {
        return { dom: h("span", { class: "broken", title: `${words.notFound} ${href ?? ""}`.trim() }) };
      }
      return { dom: h("a", { href, title: title as string | undefined, rel: "noopener" }) };
    },
  };
}
