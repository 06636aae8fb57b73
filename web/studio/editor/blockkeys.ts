/** Gives each block a unique key as soon as it is created, so that it can be found wherever it moves. */
import { Fragment, type Node } from "prosemirror-model";
import { Plugin, type Transaction } from "prosemirror-state";
import { ReplaceStep } from "prosemirror-transform";
import { newKey } from "../document/schema.ts";
import { REMOTE } from "./together.ts";

/** Return whether a transaction can add or copy a block. Typing and deleting inside a block can't do that. */
function mayBringBlocks(transaction: Transaction): boolean {
  return transaction.docChanged && !transaction.getMeta(REMOTE) &&
    transaction.steps.some((step) =>
      !(step instanceof ReplaceStep) || step.slice.content.content.some((node) => node.isBlock)
    );
}

/**
 * Return a node in which all blocks have keys. This is used when many blocks are inserted, because separate steps
 * for the keys would be slow.
 */
export function withKeys(node: Node): Node {
  if (node.isInline) return node;
  const children: Node[] = [];
  node.forEach((child) => children.push(withKeys(child)));
  const content = Fragment.from(children);
  return node.attrs.key === null
    ? node.type.create({ ...node.attrs, key: newKey() }, content, node.marks)
    : node.copy(content);
}

export function uniqueKeys(): Plugin {
  return new Plugin({
    appendTransaction(transactions, _before, state) {
      if (!transactions.some(mayBringBlocks)) return null;
      const known = new Set<string>();
      const transaction = state.tr;
      state.doc.descendants((node, at) => {
        const { key } = node.attrs;
        if (node.isBlock && key !== undefined) {
          if (key === null || known.has(key)) transaction.setNodeAttribute(at, "key", newKey());
          else known.add(key);
        }
        return !node.isTextblock;
      });
      // Text typed next keeps its marks.
      return transaction.docChanged ? transaction.setStoredMarks(state.storedMarks) : null;
    },
  });
}
