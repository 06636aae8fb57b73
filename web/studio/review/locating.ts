/** Finds the block of a page for a piece of Markdown, so that conflicts look like the page. */
import type { Node } from "prosemirror-model";
import { childrenOf } from "../document/building.ts";

const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, "");

/** Return the readable text of Markdown: without fences, tags, and link targets. */
function readable(markdown: string): string {
  return letters(
    markdown.replace(/^\s*(```+|~~~+).*$/gm, "").replace(/\{%.*?%\}/gs, "").replace(/<[^>]*>/g, "")
      .replace(/\]\([^)]*\)/g, "]").replace(/^\s*\d+[.)]\s/gm, ""),
  );
}

/** Return blocks to render, or undefined if no block matches. `cell`: the content of a table cell. */
export function locate(page: Node, markdown: string): { nodes: Node[]; cell: boolean } | undefined {
  const wanted = readable(markdown);
  if (!wanted) return undefined;
  let found: { nodes: Node[]; cell: boolean } | undefined;
  page.descendants((node, _, parent) => {
    if (found || !node.isBlock) return false;
    const text = letters(node.textContent);
    if (!text.includes(wanted)) return false;
    if (text !== wanted) return true;
    const type = node.type.name;
    if (node.type.isInGroup("block")) found = { nodes: [node], cell: false };
    else if (type === "list_item" || type === "code_line") {
      found = { nodes: [parent!.type.create(parent!.attrs, [node])], cell: false };
    } else if (type === "table_cell") found = { nodes: childrenOf(node), cell: true };
    return !found;
  });
  return found;
}
