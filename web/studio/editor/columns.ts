/** Puts blocks side by side in columns, and takes them out again. A moved block is deleted and then inserted, so that what
 * other people change in it in the meantime moves along. */
import { chainCommands } from "prosemirror-commands";
import { type Node, NodeRange, type ResolvedPos, Slice } from "prosemirror-model";
import {
  type Command,
  type EditorState,
  NodeSelection,
  TextSelection,
  type Transaction,
} from "prosemirror-state";
import { ReplaceAroundStep } from "prosemirror-transform";
import { schema } from "../document/schema.ts";
import { blockOf, holds, moveBlock } from "./blocks.ts";

export type Side = "before" | "after";

const { columns, column, paragraph } = schema.nodes;

function isInColumn(place: ResolvedPos): boolean {
  for (let depth = place.depth; depth > 0; depth--) if (place.node(depth).type === column) return true;
  return false;
}

/** Return whether a block can be in a column. Columns can't be nested. */
function fitsColumn(node: Node): boolean {
  let nested = node.type === columns;
  node.descendants((child) => !(nested ||= child.type === columns) && !child.isTextblock);
  return !nested && node.type.isInGroup("block");
}

/** Remove the column of a block. A single column that remains becomes ordinary blocks again. */
function removeColumn(transaction: Transaction, position: number): void {
  const place = transaction.doc.resolve(position);
  const start = place.before(place.depth - 1);
  transaction.delete(place.before(), place.after());
  const left = transaction.doc.nodeAt(start)!;
  if (left.childCount > 1) return;
  const end = start + left.nodeSize;
  transaction.step(new ReplaceAroundStep(start, end, start + 2, end - 2, Slice.empty, 0, true));
}

type Mapped = (position: number) => number;

/**
 * Move a block. `put` inserts it and returns its position; the given function maps positions from before the move.
 * Return its final position; undefined if it can't leave its place.
 */
function relocate(
  transaction: Transaction,
  from: number,
  put: (block: Node, mapped: Mapped) => number,
): number | undefined {
  const place = transaction.doc.resolve(from);
  const block = place.nodeAfter!;
  const alone = place.parent.childCount === 1;
  if (alone && place.parent.type !== column) return undefined;
  const first = transaction.steps.length;
  const mapped: Mapped = (position) => transaction.mapping.slice(first).map(position);
  // A column can't be empty, not even for one step.
  if (alone) transaction.insert(from + block.nodeSize, paragraph!.create());
  transaction.delete(from, from + block.nodeSize);
  const taken = transaction.steps.length;
  const at = put(block, mapped);
  const last = transaction.steps.length;
  if (alone) removeColumn(transaction, transaction.mapping.slice(taken).map(from));
  return transaction.mapping.slice(last).map(at);
}

/** Add the block to a column, at its start or end, and make it a column of its own. */
function splitOff(transaction: Transaction, block: Node, position: number, side: Side): number {
  const old = transaction.doc.nodeAt(position)!;
  const at = side === "before" ? position + 1 : position + old.nodeSize - 1;
  transaction.insert(at, block);
  const second = { type: column!, attrs: { ...old.attrs, key: null } };
  transaction.split(side === "before" ? at + block.nodeSize : at, 1, [second]);
  const place = transaction.doc.resolve(position);
  place.parent.forEach((each, offset) => {
    const { width, ...data } = each.attrs.data;
    // The widths no longer add up to the whole.
    if (width) transaction.setNodeAttribute(place.start() + offset, "data", data);
  });
  return side === "before" ? at : at + 2;
}

/** Put two adjacent blocks into two columns. `position`: that of the first. */
function wrapBoth(transaction: Transaction, position: number): void {
  const { doc } = transaction;
  const first = doc.nodeAt(position)!.nodeSize;
  const start = doc.resolve(position);
  const end = doc.resolve(position + first + doc.nodeAt(position + first)!.nodeSize);
  transaction.wrap(new NodeRange(start, end, start.depth), [{ type: columns! }, { type: column! }]);
  transaction.split(position + 2 + first, 1);
}

/** Return the place of the caret in the block at a position; undefined if it isn't there. */
function caretIn({ doc, selection }: EditorState, position: number): number | undefined {
  const place = selection.head - position;
  return selection instanceof TextSelection && place > 0 && place < doc.nodeAt(position)!.nodeSize
    ? place
    : undefined;
}

/** Place the caret in a moved block again, or select the block. */
function keepCaret(transaction: Transaction, caret: number | undefined, at: number): Transaction {
  const { doc } = transaction;
  const block = doc.nodeAt(at)!;
  if (caret !== undefined && block.content.size) {
    return transaction.setSelection(
      TextSelection.near(doc.resolve(at + Math.min(caret, block.nodeSize - 1))),
    );
  }
  return NodeSelection.isSelectable(block)
    ? transaction.setSelection(NodeSelection.create(doc, at))
    : transaction;
}

/** Return a command that moves the block at a position beside another block, into columns. */
export function putBeside(from: number, target: number, side: Side): Command {
  return (state, dispatch) => {
    const { doc } = state;
    const block = doc.nodeAt(from);
    const place = doc.resolve(target);
    const other = place.nodeAfter;
    if (!block || !other || !fitsColumn(block) || (target >= from && target < from + block.nodeSize)) {
      return false;
    }
    let beside: number | undefined;
    if (other.type === columns) {
      beside = side === "before" ? target + 1 : target + other.nodeSize - 1 - other.lastChild!.nodeSize;
    } else if (place.parent.type === column) beside = place.before();
    else if (
      isInColumn(place) || !fitsColumn(other) ||
      !holds(place, place.depth, columns!, place.index(), place.index() + 1)
    ) return false;
    const transaction = state.tr;
    const at = relocate(transaction, from, (moved, mapped) => {
      if (beside !== undefined) return splitOff(transaction, moved, mapped(beside), side);
      const start = mapped(target);
      // The block may have been in the other one, which is smaller now.
      const { nodeSize } = transaction.doc.nodeAt(start)!;
      transaction.insert(side === "before" ? start : start + nodeSize, moved);
      wrapBoth(transaction, start);
      return side === "before" ? start + 2 : start + nodeSize + 4;
    });
    if (at === undefined) return false;
    dispatch?.(keepCaret(transaction, caretIn(state, from), at).scrollIntoView());
    return true;
  };
}

/** Put the block of the selection beside the block above it. */
export const putBesideAbove: Command = (state, dispatch) => {
  const block = blockOf(state);
  const above = block && state.doc.resolve(block.position).nodeBefore;
  if (!block || !above) return false;
  return putBeside(block.position, block.position - above.nodeSize, "after")(state, dispatch);
};

/** Return a command that moves the first or last block of a column above or below the columns. */
export function leaveColumns(by: -1 | 1): Command {
  return (state, dispatch) => {
    const block = blockOf(state);
    if (!block) return false;
    const place = state.doc.resolve(block.position);
    if (place.parent.type !== column || place.parent.maybeChild(place.index() + by)) return false;
    const depth = place.depth - 1;
    const outside = by < 0 ? place.before(depth) : place.after(depth);
    const around = state.doc.resolve(outside);
    if (!holds(around, around.depth, block.node.type, around.index())) return false;
    const transaction = state.tr;
    const at = relocate(transaction, block.position, (moved, mapped) => {
      const there = mapped(outside);
      transaction.insert(there, moved);
      return there;
    })!;
    dispatch?.(keepCaret(transaction, caretIn(state, block.position), at).scrollIntoView());
    return true;
  };
}

/** Return a command that moves the block past its sibling or, at the edge of its parent, out of it. */
export const moveOrLeave = (by: -1 | 1): Command => chainCommands(moveBlock(by), leaveColumns(by));
