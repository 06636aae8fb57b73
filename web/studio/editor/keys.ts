/** Keeps block keys unique. Splitting and pasting duplicate keys; the server assigns new ones. */
import type { Node } from "prosemirror-model";
import { Plugin, type Transaction } from "prosemirror-state";
import { ReplaceAroundStep, ReplaceStep } from "prosemirror-transform";

/** Return whether a change inserted blocks, not only text, so that keys may be duplicated. */
function bringsBlocks(transaction: Transaction): boolean {
  return transaction.steps.some((step) => {
    if (!(step instanceof ReplaceStep || step instanceof ReplaceAroundStep)) return false;
    let found = false;
    step.slice.content.forEach((node) => (found ||= node.isBlock));
    return found;
  });
}

interface Keyed {
  node: Node;
  position: number;
}

/** Return the blocks that need a new key because another block has the same one. Of the two halves of a split
 * block, the one with text keeps the key, otherwise the first one. */
export function doubled(doc: Node): Keyed[] {
  const known = new Map<string, Keyed>();
  const found: Keyed[] = [];
  doc.descendants((node, position) => {
    const key = node.attrs.key as string | null | undefined;
    if (key) {
      const first = known.get(key);
      if (first === undefined) known.set(key, { node, position });
      else if (!first.node.content.size && node.content.size) {
        found.push(first);
        known.set(key, { node, position });
      } else found.push({ node, position });
    }
    return !node.isTextblock;
  });
  return found;
}

export function uniqueKeys(): Plugin {
  return new Plugin({
    appendTransaction(transactions, _, state) {
      if (!transactions.some((each) => each.docChanged && bringsBlocks(each))) return null;
      const twice = doubled(state.doc);
      if (!twice.length) return null;
      const transaction = state.tr;
      for (const { node, position } of twice) {
        transaction.setNodeAttribute(position, "key", null);
        // A fixed anchor belongs to one heading.
        if (node.attrs.data?.id !== undefined) {
          const { id: _, ...data } = node.attrs.data;
          transaction.setNodeAttribute(position, "data", data);
        }
      }
      return transaction;
    },
  });
}
