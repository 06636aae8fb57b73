/** Keeps the colors of code up to date in the editor. */
import type { Node } from "prosemirror-model";
import { Plugin, PluginKey } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";
import { colorsOf } from "./coloring.ts";

function decorate(code: Node, position: number, into: Decoration[]): void {
  const syntax = String(code.attrs.data.syntax ?? "");
  code.forEach((line, offset) => {
    const start = position + 1 + offset + 1;
    for (const { from, to, kind } of colorsOf(line, syntax)) {
      into.push(Decoration.inline(start + from, start + to, { class: kind }));
    }
  });
}

export const highlightingKey = new PluginKey<DecorationSet>("highlighting");

/** Return a plugin that caches the colors of unchanged code blocks and colors changed ones again. */
export function highlighting(): Plugin<DecorationSet> {
  return new Plugin<DecorationSet>({
    key: highlightingKey,
    state: {
      init(_, state) {
        const found: Decoration[] = [];
        state.doc.descendants((node, position) => {
          if (node.type.name === "code_block") decorate(node, position, found);
          return !node.isTextblock && node.type.name !== "code_block";
        });
        return DecorationSet.create(state.doc, found);
      },
      apply(transaction, set, before, after) {
        if (!transaction.docChanged) return set;
        let mapped = set.map(transaction.mapping, transaction.doc);
        // The unchanged start and end of the page are skipped.
        const start = before.doc.content.findDiffStart(after.doc.content);
        if (start === null) return mapped;
        const end = before.doc.content.findDiffEnd(after.doc.content);
        const to = Math.max(start, end?.b ?? after.doc.content.size);
        after.doc.nodesBetween(
          Math.max(0, start - 1),
          Math.min(after.doc.content.size, to + 1),
          (node, position) => {
            if (node.type.name !== "code_block") return !node.isTextblock;
            const found: Decoration[] = [];
            decorate(node, position, found);
            mapped = mapped.remove(mapped.find(position, position + node.nodeSize)).add(after.doc, found);
            return false;
          },
        );
        return mapped;
      },
    },
    props: { decorations: (state) => highlightingKey.getState(state) },
  });
}
