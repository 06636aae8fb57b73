/** Commands for whole blocks: find, move, convert, duplicate, and delete the block of the selection. */
import { Fragment, type Node, type NodeType, type ResolvedPos } from "prosemirror-model";
import {
  type Command,
  type EditorState,
  NodeSelection,
  Selection,
  TextSelection,
  type Transaction,
} from "prosemirror-state";
import { childrenOf } from "../document/building.ts";
import { readTopBlock } from "../document/convert.ts";
import { schema } from "../document/schema.ts";
import type { BlockJson, Data } from "../document/types.ts";

export interface BlockAt {
  node: Node;
  position: number;
  depth: number;
}

/** Return whether a block can be moved and selected by itself: top-level blocks, list items, steps, and the like. */
export function isMovable(node: Node): boolean {
  const name = node.type.name;
  return node.type.isInGroup("block") ||
    ["list_item", "stepper_step", "column", "image", "update", "tabs_item", "table_row"].includes(name);
}

/** Return the innermost movable block around a position. The only paragraph of an item represents the item. */
export function blockAround(place: ResolvedPos): BlockAt | undefined {
  for (let depth = place.depth; depth > 0; depth--) {
    const node = place.node(depth);
    if (!isMovable(node)) continue;
    if (
      depth > 1 && node.type === schema.nodes.paragraph &&
      place.node(depth - 1).type === schema.nodes.list_item && place.index(depth - 1) === 0
    ) continue;
    return { node, position: place.before(depth), depth };
  }
  return undefined;
}

export function blockOf(state: EditorState): BlockAt | undefined {
  const { selection } = state;
  if (selection instanceof NodeSelection && selection.node.isBlock) {
    return { node: selection.node, position: selection.from, depth: selection.$from.depth + 1 };
  }
  return blockAround(selection.$from);
}

/** Return the adjacent blocks that the selected text is in, if there are several. */
export function severalBlocks(
  { selection }: EditorState,
): { from: number; to: number; nodes: Node[] } | undefined {
  const range = selection instanceof TextSelection ? selection.$from.blockRange(selection.$to) : null;
  if (!range || range.endIndex - range.startIndex < 2) return undefined;
  const nodes = childrenOf(range.parent).slice(range.startIndex, range.endIndex);
  return nodes.every(isMovable) ? { from: range.start, to: range.end, nodes } : undefined;
}

/** Select the block that contains the caret; when repeated, select the block around it. */
export const selectBlock: Command = (state, dispatch) => {
  const { selection } = state;
  let found: BlockAt | undefined;
  if (selection instanceof NodeSelection) {
    found = blockAround(selection.$from);
    if (found === undefined) return false;
  } else {
    found = blockAround(selection.$from);
  }
  if (found === undefined || !NodeSelection.isSelectable(found.node)) return false;
  dispatch?.(state.tr.setSelection(NodeSelection.create(state.doc, found.position)));
  return true;
};

/** Restore the selection in a block, or select the block itself at its new position. */
function keepSelection(transaction: Transaction, before: Selection, from: number, to: number): Transaction {
  const shift = to - from;
  if (before instanceof NodeSelection) {
    return transaction.setSelection(NodeSelection.create(transaction.doc, before.from + shift));
  }
  const end = transaction.doc.content.size;
  const anchor = Math.min(before.anchor + shift, end);
  const head = Math.min(before.head + shift, end);
  return transaction.setSelection(
    TextSelection.between(transaction.doc.resolve(anchor), transaction.doc.resolve(head)),
  );
}

/** Return a command that moves the block past its sibling or, at the edge of its parent, out of the parent. Several
 * selected blocks only move past siblings. */
export function moveBlock(by: -1 | 1): Command {
  return (state, dispatch) => {
    const several = severalBlocks(state);
    if (several) {
      const { from, to } = several;
      const beside = by < 0 ? state.doc.resolve(from).nodeBefore : state.doc.resolve(to).nodeAfter;
      if (!beside || !isMovable(beside)) return true;
      // The sibling moves past the blocks, so the selection stays.
      const size = beside.nodeSize;
      const transaction = by < 0
        ? state.tr.delete(from - size, from).insert(to - size, beside)
        : state.tr.delete(to, to + size).insert(from, beside);
      dispatch?.(transaction.scrollIntoView());
      return true;
    }
    const block = blockOf(state);
    if (block === undefined) return false;
    const place = state.doc.resolve(block.position);
    const index = place.index();
    const neighbor = place.parent.maybeChild(index + by);
    const transaction = state.tr;
    if (neighbor !== null && neighbor !== undefined && neighbor.type !== schema.nodes.table_head) {
      const size = block.node.nodeSize;
      const to = by < 0 ? block.position - neighbor.nodeSize : block.position + neighbor.nodeSize;
      transaction.delete(block.position, block.position + size).insert(to, block.node);
      dispatch?.(keepSelection(transaction, state.selection, block.position, to).scrollIntoView());
      return true;
    }
    // Blocks can leave a hint or a step, but not a list or a table, because an item needs its list.
    const outer = place.depth > 0 ? place.depth : 0;
    if (!outer || !block.node.type.isInGroup("block")) return false;
    const target = by < 0 ? place.before(outer) : place.after(outer);
    const around = state.doc.resolve(target);
    if (!around.parent.canReplaceWith(around.index(), around.index(), block.node.type)) return false;
    if (place.parent.childCount === 1) return false;
    transaction.delete(block.position, block.position + block.node.nodeSize);
    const to = transaction.mapping.map(target, by);
    transaction.insert(to, block.node);
    dispatch?.(keepSelection(transaction, state.selection, block.position, to).scrollIntoView());
    return true;
  };
}

export const duplicateBlock: Command = (state, dispatch) => {
  const several = severalBlocks(state);
  if (several) {
    const { from, to, nodes } = several;
    const transaction = state.tr.insert(to, nodes.map(withoutKeys));
    const { anchor, head } = state.selection;
    const shift = to - from;
    dispatch?.(
      transaction.setSelection(TextSelection.create(transaction.doc, anchor + shift, head + shift))
        .scrollIntoView(),
    );
    return true;
  }
  const block = blockOf(state);
  if (block === undefined) return false;
  if (dispatch) {
    const at = block.position + block.node.nodeSize;
    const transaction = state.tr.insert(at, withoutKeys(block.node));
    dispatch(keepSelection(transaction, state.selection, block.position, at).scrollIntoView());
  }
  return true;
};

export const deleteBlock: Command = (state, dispatch) => {
  const several = severalBlocks(state);
  const parent = several && state.doc.resolve(several.from).parent;
  if (several && parent!.childCount > several.nodes.length) {
    const transaction = state.tr.delete(several.from, several.to);
    const near = transaction.doc.resolve(Math.min(several.from, transaction.doc.content.size));
    dispatch?.(transaction.setSelection(Selection.near(near)).scrollIntoView());
    return true;
  }
  const block = blockOf(state);
  if (block === undefined) return false;
  if (dispatch) {
    const parent = state.doc.resolve(block.position).parent;
    const { position, node } = block;
    const transaction = state.tr;
    if (parent.childCount > 1) transaction.delete(position, position + node.nodeSize);
    else if (parent.type.contentMatch.matchType(schema.nodes.paragraph!)) {
      transaction.replaceWith(position, position + node.nodeSize, schema.nodes.paragraph!.create());
    } else return deleteAround(state, position, dispatch);
    dispatch(
      transaction.setSelection(
        Selection.near(transaction.doc.resolve(Math.min(position, transaction.doc.content.size))),
      ).scrollIntoView(),
    );
  }
  return true;
};

/** Delete the block whose only content is the block at a position. For example, the only item of a list is deleted
 * together with the list. */
function deleteAround(
  state: EditorState,
  position: number,
  dispatch: (transaction: Transaction) => void,
): boolean {
  const place = state.doc.resolve(position);
  if (place.depth === 0) return false;
  return deleteBlock(
    state.apply(state.tr.setSelection(NodeSelection.create(state.doc, place.before()))),
    (inner) => {
      // Run the same steps on the state of the caller.
      const transaction = state.tr;
      inner.steps.forEach((step) => transaction.step(step));
      dispatch(
        transaction.setSelection(
          Selection.near(transaction.doc.resolve(Math.min(position, transaction.doc.content.size))),
        ),
      );
    },
  );
}

/** Return a copy of the node and its content without keys. */
export function withoutKeys(node: Node): Node {
  if (node.isText) return node;
  const content = Fragment.from(childrenOf(node).map(withoutKeys));
  if (!("key" in node.attrs)) return node.copy(content);
  const meta = node.attrs.meta as Data | null | undefined;
  return node.type.create(
    { ...node.attrs, key: null, ...(meta ? { meta: omit(meta, "id") } : {}) },
    content,
    node.marks,
  );
}

function omit(data: Data, name: string): Data | null {
  const kept = Object.fromEntries(Object.entries(data).filter(([each]) => each !== name));
  return Object.keys(kept).length ? kept : null;
}

// --- converting blocks ------------------------------------------------------------------------------

export type Turn =
  | "paragraph"
  | "heading_1"
  | "heading_2"
  | "heading_3"
  | "list_unordered"
  | "list_ordered"
  | "list_tasks"
  | "blockquote"
  | "hint"
  | "code_block"
  | "expandable";

/** Return the blocks whose text another block can contain. For a container, these are its contents. */
function insideOf(node: Node): Node[] {
  switch (node.type.name) {
    case "list_ordered":
    case "list_unordered":
    case "list_tasks":
      return childrenOf(node).flatMap(insideOf);
    case "list_item":
    case "blockquote":
    case "hint":
    case "if":
      return childrenOf(node);
    case "expandable":
      return [...childrenOf(node.child(0)), ...childrenOf(node.child(1))];
    case "code_block":
      return childrenOf(node).map((line) => schema.nodes.paragraph!.create(null, line.content));
    default:
      return [node];
  }
}

/** Return the text of a block as inline content for another block, with only the marks that fit. Line breaks in code
 * become lines. */
function asParagraph(node: Node): Node {
  if (!node.isTextblock || node.type === schema.nodes.paragraph) return node;
  return schema.nodes.paragraph!.create({ key: node.attrs.key }, node.content);
}

/** Convert one block, or several adjacent ones. Return undefined if the new type can't contain them. */
export function turned(nodes: Node[], to: Turn): Node[] | undefined {
  const inside = nodes.flatMap(insideOf);
  const key = nodes.length === 1 ? nodes[0]!.attrs.key : null;
  const paragraphs = inside.map(asParagraph);
  switch (to) {
    case "paragraph":
      return paragraphs;
    case "heading_1":
    case "heading_2":
    case "heading_3":
      return inside.map((node) =>
        node.isTextblock ? schema.nodes[to]!.create({ key: node.attrs.key }, node.content) : node
      );
    case "list_unordered":
    case "list_ordered":
    case "list_tasks": {
      const data = to === "list_tasks" ? { checked: false } : {};
      const lists = nodes.length === 1 && nodes[0]!.type.name.startsWith("list_");
      const items = lists
        ? childrenOf(nodes[0]!).map((item) => item.type.create({ ...item.attrs, data }, item.content))
        : paragraphs.map((block) => schema.nodes.list_item!.create({ data }, block));
      return [schema.nodes[to]!.create({ key: lists ? key : null }, items)];
    }
    case "blockquote":
      return [schema.nodes.blockquote!.create(null, paragraphs)];
    case "hint":
      return [schema.nodes.hint!.create({ data: { style: "info" } }, paragraphs)];
    case "expandable": {
      const [first, ...rest] = paragraphs;
      if (first?.type !== schema.nodes.paragraph) return undefined;
      const body = rest.length ? rest : [schema.nodes.paragraph!.create()];
      return [
        schema.nodes.expandable!.create(null, [
          schema.nodes.expandable_title!.create(null, first),
          schema.nodes.expandable_body!.create(null, body),
        ]),
      ];
    }
    case "code_block": {
      if (!inside.every((node) => node.isTextblock)) return undefined;
      const lines = inside.flatMap((node) =>
        node.textBetween(
          0,
          node.content.size,
          "\n",
          (leaf) => leaf.type === schema.nodes.hard_break ? "\n" : "",
        ).split("\n")
      );
      return [
        schema.nodes.code_block!.create(
          null,
          lines.map((line) => schema.nodes.code_line!.create(null, line ? schema.text(line) : null)),
        ),
      ];
    }
  }
}

/** Return the adjacent blocks that the selection covers. */
function selectedRange(
  state: EditorState,
): { from: number; to: number; nodes: Node[]; depth: number } | undefined {
  const { selection } = state;
  if (selection instanceof NodeSelection) {
    return selection.node.isBlock
      ? { from: selection.from, to: selection.to, nodes: [selection.node], depth: selection.$from.depth }
      : undefined;
  }
  const range = selection.$from.blockRange(selection.$to);
  if (range === null) return undefined;
  let { depth } = range;
  // An item or a line of code can't exist without its parent.
  let parent = range.parent;
  while (
    depth > 0 && !parent.childCount ||
    ["list_item", "code_block", "list_ordered", "list_unordered", "list_tasks"].includes(parent.type.name) &&
      depth > 0
  ) {
    depth--;
    parent = selection.$from.node(depth);
  }
  const from = selection.$from.posAtIndex(selection.$from.index(depth), depth);
  const to = selection.$to.posAtIndex(selection.$to.indexAfter(depth), depth);
  const nodes = childrenOf(parent).slice(selection.$from.index(depth), selection.$to.indexAfter(depth));
  return { from, to, nodes, depth };
}

export function turnInto(to: Turn): Command {
  return (state, dispatch) => {
    const range = selectedRange(state);
    if (range === undefined || !range.nodes.length) return false;
    const made = turned(range.nodes, to);
    if (made === undefined) return false;
    const place = state.doc.resolve(range.from);
    const content = Fragment.from(made);
    if (!place.parent.canReplace(place.index(), place.index() + range.nodes.length, content)) return false;
    if (dispatch) {
      const { selection } = state;
      // Count the letters before the caret, to place the caret after the same letters again.
      const letters = selection instanceof NodeSelection
        ? 0
        : lettersBefore(state.doc, range.from, selection.head);
      const transaction = state.tr.replaceWith(range.from, range.to, content);
      const size = content.size;
      const caret = placeOfLetter(transaction.doc, range.from, range.from + size, letters);
      dispatch(transaction.setSelection(TextSelection.near(transaction.doc.resolve(caret))).scrollIntoView());
    }
    return true;
  };
}

function lettersBefore(doc: Node, from: number, to: number): number {
  let found = 0;
  doc.nodesBetween(from, to, (node, position) => {
    if (node.isInline) found += Math.min(node.nodeSize, to - position);
  });
  return found;
}

function placeOfLetter(doc: Node, from: number, to: number, letters: number): number {
  let left = letters;
  let found: number | undefined;
  doc.nodesBetween(from, to, (node, position) => {
    if (found !== undefined || !node.isTextblock) return found === undefined;
    if (left <= node.content.size) found = position + 1 + left;
    left -= node.content.size;
    return false;
  });
  return found ?? from + 1;
}

/** Return the type of the selected block, for the toolbar and the menus. */
export function turnOf(state: EditorState): Turn {
  const { $from } = state.selection;
  for (let depth = $from.depth; depth > 0; depth--) {
    const name = $from.node(depth).type.name;
    if (
      [
        "heading_1",
        "heading_2",
        "heading_3",
        "code_block",
        "list_unordered",
        "list_ordered",
        "list_tasks",
        "blockquote",
        "hint",
      ].includes(name)
    ) return name as Turn;
  }
  return "paragraph";
}

/** Insert a block in place of an empty paragraph or after the selected block, and move the caret into it. */
export function insertBlock(state: EditorState, node: Node): Transaction {
  const { $from } = state.selection;
  const transaction = state.tr;
  let at: number;
  if (
    $from.parent.type === schema.nodes.paragraph && !$from.parent.content.size &&
    holds($from, $from.depth - 1, node.type, $from.index($from.depth - 1), $from.indexAfter($from.depth - 1))
  ) {
    at = $from.before();
    transaction.replaceWith(at, $from.after(), node);
  } else {
    let depth = state.selection instanceof NodeSelection ? $from.depth : $from.depth - 1;
    while (depth > 0 && !holds($from, depth, node.type, $from.indexAfter(depth))) depth--;
    at = state.selection instanceof NodeSelection && depth === $from.depth
      ? state.selection.to
      : $from.after(depth + 1);
    transaction.insert(at, node);
  }
  return intoBlock(transaction, at, node);
}

/** Insert an embed, and place the caret below it, in a new paragraph at the end of the content. */
export function insertEmbed(state: EditorState, url: string): Transaction {
  const { embed, paragraph } = schema.nodes;
  const transaction = insertBlock(state, embed!.create({ data: { url } }));
  const { $to, to } = transaction.selection;
  if ($to.nodeAfter || !$to.parent.canReplaceWith($to.index(), $to.index(), paragraph!)) return transaction;
  return transaction.insert(to, paragraph!.create()).setSelection(
    TextSelection.create(transaction.doc, to + 1),
  );
}

/** Return whether the node around a position, at a depth, can have a block of this type in place of a range of its
 * children. For example, a list in a cell can contain only what a cell can. */
export function holds(place: ResolvedPos, depth: number, type: NodeType, from: number, to = from): boolean {
  if (depth < 0 || !place.node(depth).canReplaceWith(from, to, type)) return false;
  if (type.isInGroup("in_cells")) return true;
  for (let outer = depth; outer > 0; outer--) {
    if (place.node(outer).type === schema.nodes.table_cell) return false;
  }
  return true;
}

/** Place the caret in the first text of a block, or select the block if it has none. */
export function intoBlock(transaction: Transaction, at: number, node: Node): Transaction {
  let text = -1;
  node.descendants((child, offset) => {
    if (text < 0 && child.isTextblock) text = at + 1 + offset + 1;
    return text < 0;
  });
  if (node.isTextblock) text = at + 1;
  if (text >= 0) transaction.setSelection(TextSelection.create(transaction.doc, text));
  else if (NodeSelection.isSelectable(node)) {
    transaction.setSelection(NodeSelection.create(transaction.doc, at));
  }
  return transaction.scrollIntoView();
}

/** Return a block from the server without keys, for insertion. */
export function asNew(block: BlockJson): Node {
  return withoutKeys(readTopBlock(block));
}

/** Return a reference to reusable content. */
export function reusableBlock(id: string): Node {
  const ref = { kind: "reusable-content", reusableContent: id };
  return schema.nodes.reusable_content!.create({ data: { ref } });
}
