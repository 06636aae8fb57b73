/** Computes the steps from one document to another, word by word in the deepest changed block. Everything else stays
 * unchanged. */
import { Fragment, type Node, Slice } from "prosemirror-model";
import { type EditorState, type Selection, TextSelection, type Transaction } from "prosemirror-state";
import { type Mappable, ReplaceStep, Transform } from "prosemirror-transform";
import { childrenOf } from "../document/building.ts";
import { longestRun, same } from "../document/comparing.ts";
import { isWritten, readTopBlock, writeBlock } from "../document/convert.ts";
import type { BlockJson } from "../document/types.ts";
import { textOf } from "./rescue.ts";

/** Change the top level of the document to these nodes. */
export function replaceTop(transform: Transform, nodes: Node[]): void {
  replaceNodes(transform, 0, childrenOf(transform.doc), nodes);
}

/** Change adjacent nodes at a position into others. */
export function replaceNodes(
  transform: Transform,
  at: number,
  before: readonly Node[],
  after: readonly Node[],
): void {
  replaceChildren(transform, at, [...before], [...after], becomeChecked);
}

/** Return the top level of the server's version. Blocks with unchanged content are the same node objects. */
export function withKnown(
  doc: Node,
  blocks: BlockJson[],
  isSame: (own: BlockJson, block: BlockJson) => boolean = same,
): Node[] {
  const known = new Map(
    childrenOf(doc).filter(isWritten).map((node) => [node.attrs.key as string | null, node]),
  );
  const found = blocks.map((block) => {
    const own = known.get(block.key ?? null);
    return own && isSame(writeBlock(own), block) ? own : readTopBlock(block);
  });
  return found.length ? found : [doc.type.schema.nodes.paragraph!.create()];
}

type Become = (transform: Transform, at: number, was: Node, now: Node) => void;

/** Change the children `before` of a node whose content starts at `start`. */
function replaceChildren(
  transform: Transform,
  start: number,
  before: Node[],
  after: Node[],
  change: Become,
): void {
  const known = origins(before, after);
  const kept = known.flatMap((place, at) => (place < 0 ? [] : [at]));
  const staying = new Set(longestRun(kept.map((at) => known[at]!)).map((number) => kept[number]!));
  let position = start;
  let next = 0;
  const drop = (until: number): void => {
    const size = before.slice(next, until).reduce((sum, node) => sum + node.nodeSize, 0);
    // New blocks are inserted before old ones are removed, so the document is never empty.
    if (size) transform.step(new ReplaceStep(position, position + size, Slice.empty));
    next = until;
  };
  after.forEach((node, at) => {
    if (staying.has(at)) {
      drop(known[at]!);
      const was = before[next++]!;
      if (!was.eq(node)) change(transform, position, was, node);
      position += transform.doc.nodeAt(position)!.nodeSize;
    } else {
      transform.step(new ReplaceStep(position, position, new Slice(Fragment.from(node), 0, 0)));
      position += node.nodeSize;
    }
  });
  drop(before.length);
}

/** Return the index in `before` of each node of `after`; -1 for new nodes. */
function origins(before: Node[], after: Node[]): number[] {
  const found = after.map((node) => before.indexOf(node));
  const taken = new Set(found);
  const pair = (at: number, place: number | undefined): void => {
    if (place === undefined || found[at]! >= 0 || taken.has(place)) return;
    found[at] = place;
    taken.add(place);
  };
  /** Return the key of a block, or the key of the column of a cell. */
  const keyOf = ({ attrs }: Node): string | null => attrs.col ?? attrs.key ?? null;
  const places = new Map(before.map((node, at) => [keyOf(node), at]));
  after.forEach((node, at) => pair(at, keyOf(node) ? places.get(keyOf(node)) : undefined));
  // Table rows have no keys. Between two matched siblings, nodes match if there are as many of the same type.
  for (let at = 0; at < after.length;) {
    let end = at;
    while (end < after.length && found[end]! < 0) end++;
    const [low, high] = [at ? found[at - 1]! + 1 : 0, end < after.length ? found[end]! : before.length];
    const left: number[] = [];
    for (let place = low; place < high; place++) if (!taken.has(place)) left.push(place);
    if (left.length === end - at) {
      left.forEach((place, number) => {
        const [was, now] = [before[place]!, after[at + number]!];
        if (was.type === now.type && !(keyOf(was) && keyOf(now))) pair(at + number, place);
      });
    }
    at = Math.max(end, at + 1);
  }
  return found;
}

/** Change the node at a position into another, editing only the differences, so that carets elsewhere stay in place. */
function become(transform: Transform, at: number, was: Node, now: Node): void {
  if (was.type !== now.type) {
    if (!was.isTextblock || !now.isTextblock) {
      transform.replaceWith(at, at + was.nodeSize, now);
      return;
    }
    transform.setNodeMarkup(at, now.type, now.attrs);
  }
  for (const [name, value] of Object.entries(was.type === now.type ? now.attrs : {})) {
    if (!same(was.attrs[name], value)) transform.setNodeAttribute(at, name, value);
  }
  if (!was.isTextblock) {
    replaceChildren(transform, at + 1, childrenOf(was), childrenOf(now), become);
    return;
  }
  // From the end, so that earlier positions stay valid.
  for (const { from, to, start, end } of wordChanges(was, now).reverse()) {
    const [old, next] = [was.slice(from, to).content, now.slice(start, end).content];
    // If a word grows or is shortened, its common part stays, because the caret may be in it.
    const head = old.findDiffStart(next);
    const tail = old.findDiffEnd(next);
    if (head === null || !tail) continue;
    const common = Math.max(0, head - Math.min(tail.a, tail.b));
    transform.replace(
      at + 1 + from + head,
      at + 1 + from + tail.a + common,
      now.slice(start + head, start + tail.b + common),
    );
  }
}

/** Change a node like `become`, but replace the whole node if the result differs from the target. */
function becomeChecked(transform: Transform, at: number, was: Node, now: Node): void {
  const trial = new Transform(transform.doc);
  try {
    become(trial, at, was, now);
    if (trial.doc.nodeAt(at)!.eq(now)) {
      for (const step of trial.steps) transform.step(step);
      return;
    }
  } catch {
    // The parts of the node can't be changed one after the other.
  }
  transform.replaceWith(at, at + was.nodeSize, now);
}

interface Word {
  name: string;
  at: number;
}

function wordsOf(node: Node): Word[] {
  const found: Word[] = [];
  node.forEach((child, offset) => {
    const marks = JSON.stringify(child.marks);
    if (!child.isText) {
      found.push({ name: JSON.stringify(child), at: offset });
      return;
    }
    for (const match of child.text!.matchAll(/[\p{L}\p{N}_]+|\s+|./gsu)) {
      found.push({ name: match[0] + marks, at: offset + match.index });
    }
  });
  return found;
}

const MOST_WORDS = 600;

/** Return the ranges that differ between the content of two blocks, word by word, in order. */
export function wordChanges(
  was: Node,
  now: Node,
): { from: number; to: number; start: number; end: number }[] {
  const [before, after] = [wordsOf(was), wordsOf(now)];
  let head = 0;
  while (head < before.length && head < after.length && before[head]!.name === after[head]!.name) head++;
  let tail = 0;
  while (
    tail < before.length - head && tail < after.length - head &&
    before.at(-1 - tail)!.name === after.at(-1 - tail)!.name
  ) tail++;
  const [old, next] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const place = (words: Word[], number: number, size: number): number => words[number]?.at ?? size;
  const range = (from: number, to: number, start: number, end: number) => ({
    from: place(before, head + from, was.content.size),
    to: place(before, head + to, was.content.size),
    start: place(after, head + start, now.content.size),
    end: place(after, head + end, now.content.size),
  });
  if (!old.length && !next.length) return [];
  if (old.length > MOST_WORDS || next.length > MOST_WORDS) return [range(0, old.length, 0, next.length)];
  // The longest common subsequence of words.
  const width = next.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let one = old.length - 1; one >= 0; one--) {
    for (let two = next.length - 1; two >= 0; two--) {
      lengths[one * width + two] = old[one]!.name === next[two]!.name
        ? lengths[(one + 1) * width + two + 1]! + 1
        : Math.max(lengths[(one + 1) * width + two]!, lengths[one * width + two + 1]!);
    }
  }
  const found: ReturnType<typeof range>[] = [];
  let [one, two] = [0, 0];
  while (one < old.length || two < next.length) {
    const [from, start] = [one, two];
    while (one < old.length || two < next.length) {
      if (one < old.length && two < next.length && old[one]!.name === next[two]!.name) break;
      if (
        two >= next.length ||
        (one < old.length && lengths[(one + 1) * width + two]! >= lengths[one * width + two + 1]!)
      ) one++;
      else two++;
    }
    if (one > from || two > start) found.push(range(from, one, start, two));
    while (one < old.length && two < next.length && old[one]!.name === next[two]!.name) {
      [one, two] = [one + 1, two + 1];
    }
  }
  return found;
}

/** Return the offset of a caret in another state of its block: after the same word, which may have moved within the
 * block, or else at the same distance from the unchanged text. */
function offsetIn(was: Node, now: Node, offset: number): number {
  const [before, after] = [textOf(was), textOf(now)];
  const word = /\S*$/.exec(before.slice(0, offset))![0];
  const at = word ? after.indexOf(word) : -1;
  if (at >= 0 && !after.includes(word, at + 1)) return at + word.length;
  const head = was.content.findDiffStart(now.content) ?? offset;
  const tail = was.content.findDiffEnd(now.content);
  if (offset > head && tail && offset >= tail.a) {
    return Math.max(0, now.content.size - (was.content.size - offset));
  }
  return Math.min(offset, now.content.size);
}

/** Map the caret. It stays before text that is inserted exactly there, and moves with its block. */
export function followed({ selection }: EditorState, transaction: Transaction, mapping: Mappable): Selection {
  if (!(selection instanceof TextSelection)) return transaction.selection;
  const [anchor, head] = [selection.$anchor, selection.$head].map(($place) => {
    const { pos, deletedAcross } = mapping.mapResult($place.pos, -1);
    const { key } = $place.parent.attrs;
    if (!key || !deletedAcross) return pos;
    let found: number | undefined;
    transaction.doc.descendants((node, at) => {
      if (node.isTextblock && node.attrs.key === key) {
        const [start, end] = [at + 1, at + 1 + node.content.size];
        found = pos >= start && pos <= end ? pos : start + offsetIn($place.parent, node, $place.parentOffset);
      }
      return found === undefined && !node.isTextblock;
    });
    return found ?? pos;
  });
  return TextSelection.between(transaction.doc.resolve(anchor!), transaction.doc.resolve(head!), -1);
}
