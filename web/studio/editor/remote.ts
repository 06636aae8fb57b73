/** Brings what somebody else wrote into a page that is being written, block by block, under what is not saved yet. */
import type { Node } from "prosemirror-model";
import type { EditorState, Transaction } from "prosemirror-state";
import type { Mapping, Step, Transform } from "prosemirror-transform";
import { childrenOf, isWritten, readTopBlock, same, writeBlock } from "../document/convert.ts";
import { trimmed } from "../document/trimming.ts";
import type { BlockJson } from "../document/types.ts";
import { longestRun } from "./differences.ts";

/** A step that the server does not have, with the one that undoes it. */
export interface Unsent {
  step: Step;
  inverted: Step;
}

/** The steps of a transform, each with the one that undoes it. */
export function unsentOf({ steps, docs }: Transform): Unsent[] {
  return steps.map((step, at) => ({ step, inverted: step.invert(docs[at]!) }));
}

/** The page as the server has it: blocks that are the same stay, places to write stay behind what they followed. */
export function withRemote(doc: Node, remote: BlockJson[]): Node[] {
  const known = new Map<string, Node>();
  const behind = new Map<string | null, Node[]>();
  let last: string | null = null;
  for (const node of childrenOf(doc)) {
    if (!isWritten(node)) {
      behind.set(last, [...(behind.get(last) ?? []), node]);
      continue;
    }
    last = writeBlock(node).key ?? null;
    if (last !== null) known.set(last, node);
  }
  const found = [...(behind.get(null) ?? [])];
  for (const block of remote) {
    const own = known.get(block.key ?? "");
    found.push(own !== undefined && isSaidBy(own, block) ? own : readTopBlock(block));
    found.push(...(behind.get(block.key ?? "") ?? []));
  }
  return found.length ? found : [doc.type.schema.nodes.paragraph!.create()];
}

/** Whether a block says what the server has of it, which has no blanks around words. */
function isSaidBy(own: Node, block: BlockJson): boolean {
  const written = writeBlock(own);
  return same(written, block) || same(trimmed(written, block), block);
}

/** Changes the top level to these nodes, touching as little as it can, so that carets elsewhere stay. */
export function replaceTop(transform: Transform, nodes: Node[]): void {
  const before = childrenOf(transform.doc);
  const places = new Map<unknown, number>(before.map((node, at) => [node.attrs.key ?? node, at]));
  const known = nodes.map((node) => places.get(node.attrs.key ?? node) ?? -1);
  const kept = known.flatMap((place, at) => (place < 0 ? [] : [at]));
  const staying = new Set(longestRun(kept.map((at) => known[at]!)).map((number) => kept[number]!));
  let position = 0;
  let next = 0;
  const drop = (until: number): void => {
    const size = before.slice(next, until).reduce((sum, node) => sum + node.nodeSize, 0);
    // What is new is there by now: the page is never without a block.
    if (size) transform.delete(position, position + size);
    next = until;
  };
  nodes.forEach((node, at) => {
    if (staying.has(at)) {
      drop(known[at]!);
      const was = before[next++]!;
      if (was !== node) replaceOne(transform, position, was, node);
    } else transform.insert(position, node);
    position += node.nodeSize;
  });
  drop(before.length);
}

function replaceOne(transform: Transform, at: number, was: Node, now: Node): void {
  if (was.type !== now.type || !was.isTextblock || !same(was.attrs, now.attrs)) {
    transform.replaceWith(at, at + was.nodeSize, now);
    return;
  }
  // From the end, so that places before stay what they are.
  for (const { from, to, start, end } of wordChanges(was, now).reverse()) {
    transform.replace(at + 1 + from, at + 1 + to, now.slice(start, end));
  }
}

interface Word {
  name: string;
  at: number;
  size: number;
}

function wordsOf(node: Node): Word[] {
  const found: Word[] = [];
  node.forEach((child, offset) => {
    const marks = JSON.stringify(child.marks);
    if (!child.isText) {
      found.push({ name: JSON.stringify(child), at: offset, size: child.nodeSize });
      return;
    }
    for (const match of child.text!.matchAll(/[\p{L}\p{N}_]+|\s+|./gsu)) {
      found.push({ name: match[0] + marks, at: offset + match.index, size: match[0].length });
    }
  });
  return found;
}

const MOST_WORDS = 600;

/** The places in the content of one block that are others in another, word by word: both blocks' ranges, in order. */
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
  // The longest common run of words, by the usual table.
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

/** A page that is only read becomes what the server has now. */
export function readAgain(state: EditorState, remote: BlockJson[]): Transaction {
  const transaction = state.tr;
  replaceTop(transaction, withRemote(state.doc, remote));
  return transaction.setMeta("addToHistory", false);
}

/**
 * The state with what the server has below what is unsent, which is taken back, and done again where its places are now.
 * Gives what is unsent afterwards; a step whose place is gone is gone.
 */
export function rebased(
  state: EditorState,
  confirmed: Node,
  unsent: Unsent[],
  remote: BlockJson[],
): { transaction: Transaction; confirmed: Node; unsent: Unsent[] } {
  const transaction = state.tr;
  for (const { inverted } of unsent.toReversed()) transaction.step(inverted);
  replaceTop(transaction, withRemote(confirmed, remote));
  const doc = transaction.doc;
  const left: Unsent[] = [];
  // As collaborative editing does it: each step again, through the undoing of those before it and what came between.
  for (let at = 0, mapFrom = unsent.length; at < unsent.length; at++) {
    const mapped = unsent[at]!.step.map(transaction.mapping.slice(mapFrom));
    mapFrom--;
    if (mapped === null || transaction.maybeStep(mapped).failed) continue;
    (transaction.mapping as Mapping & { setMirror(one: number, other: number): void }).setMirror(
      mapFrom,
      transaction.steps.length - 1,
    );
    left.push({ step: mapped, inverted: mapped.invert(transaction.docs.at(-1)!) });
  }
  transaction.setMeta("rebased", unsent.length).setMeta("addToHistory", false).setMeta("remote", true);
  return { transaction, confirmed: doc, unsent: left };
}
