/**
 * Brings what somebody else wrote into a page that is being written, under what is not saved yet: in the deepest block
 * that changed, an item, a cell, a paragraph, and there word by word.
 */
import { Fragment, type Mark, type Node } from "prosemirror-model";
import type { EditorState, Transaction } from "prosemirror-state";
import {
  insertPoint,
  type Mapping,
  ReplaceAroundStep,
  ReplaceStep,
  type Step,
  Transform,
} from "prosemirror-transform";
import { childrenOf, isWritten, readTopBlock, same, writeBlock } from "../document/convert.ts";
import { trimmed } from "../document/trimming.ts";
import type { BlockJson } from "../document/types.ts";
import { followed, longestRun, wordChanges } from "./difference.ts";

/** A step that the server does not have, with the one that undoes it. */
export interface Unsent {
  step: Step;
  inverted: Step;
}

/** The steps of a transform, each with the one that undoes it. */
export function unsentOf({ steps, docs }: Transform): Unsent[] {
  return steps.map((step, at) => ({ step, inverted: step.invert(docs[at]!) }));
}

/** The page as the server has it; blocks that say the same stay the nodes that they are. */
export function withRemote(doc: Node, remote: BlockJson[]): Node[] {
  const known = new Map<unknown, Node>();
  for (const node of childrenOf(doc)) if (isWritten(node)) known.set(writeBlock(node).key, node);
  const found = remote.map((block) => {
    const own = block.key === undefined ? undefined : known.get(block.key);
    return own !== undefined && isSaidBy(own, block) ? own : readTopBlock(block);
  });
  return found.length ? found : [doc.type.schema.nodes.paragraph!.create()];
}

/** Whether a block says what the server has of it, which has no blanks around words. */
function isSaidBy(own: Node, block: BlockJson): boolean {
  const written = writeBlock(own);
  return same(written, block) || same(trimmed(written, block), block);
}

/** Changes the top level to these nodes, touching as little as it can, so that carets stay where they are. */
export function replaceTop(transform: Transform, nodes: Node[]): void {
  replaceChildren(transform, 0, childrenOf(transform.doc), nodes, becomeChecked);
}

type Become = (transform: Transform, at: number, was: Node, now: Node) => void;

/** Changes the children `before` of a node, whose content begins at `start`. */
function replaceChildren(
  transform: Transform,
  start: number,
  before: Node[],
  after: Node[],
  change: Become,
): void {
  const [nodes, known] = withPlaces(before, after, origins(before, after));
  const kept = known.flatMap((place, at) => (place < 0 ? [] : [at]));
  const staying = new Set(longestRun(kept.map((at) => known[at]!)).map((number) => kept[number]!));
  let position = start;
  let next = 0;
  const drop = (until: number): void => {
    const size = before.slice(next, until).reduce((sum, node) => sum + node.nodeSize, 0);
    // What is new is there by now: nothing is ever without a block.
    if (size) transform.delete(position, position + size);
    next = until;
  };
  nodes.forEach((node, at) => {
    if (staying.has(at)) {
      drop(known[at]!);
      const was = before[next++]!;
      if (was !== node) change(transform, position, was, node);
      position += transform.doc.nodeAt(position)!.nodeSize;
    } else {
      transform.insert(position, node);
      position += node.nodeSize;
    }
  });
  drop(before.length);
}

/** For each node of `after` where it was in `before`, -1 for what is new there. */
function origins(before: Node[], after: Node[]): number[] {
  const found = after.map((node) => before.indexOf(node));
  const taken = new Set(found);
  const pair = (at: number, place: number | undefined): void => {
    if (place === undefined || found[at]! >= 0 || taken.has(place)) return;
    found[at] = place;
    taken.add(place);
  };
  const places = new Map(before.map((node, at) => [node.attrs.key ?? node, at]));
  after.forEach((node, at) => pair(at, places.get(node.attrs.key ?? node)));
  // Rows of tables have no keys, and what was just written may have others here than on the server.
  const inside = new Map(before.flatMap((node, at) => keysIn(node).map((key) => [key, at] as const)));
  after.forEach((node, at) => {
    for (const key of keysIn(node)) {
      const place = inside.get(key);
      if (place !== undefined && before[place]!.type === node.type) pair(at, place);
    }
  });
  // What is left between two neighbours is the same where it is as many of one kind.
  for (let at = 0; at < after.length;) {
    let end = at;
    while (end < after.length && found[end]! < 0) end++;
    const [low, high] = [at ? found[at - 1]! + 1 : 0, end < after.length ? found[end]! : before.length];
    const left = [];
    for (let place = low; place < high; place++) if (!taken.has(place)) left.push(place);
    if (left.length === end - at) {
      left.forEach((place, number) => {
        const [was, now] = [before[place]!, after[at + number]!];
        const either = was.attrs.key === undefined || !was.attrs.key || !now.attrs.key;
        // In a place to write, somebody writes: what is new comes beside it.
        const fits = isWritten(was) === isWritten(now) || before.length === 1;
        if (was.type === now.type && either && fits) pair(at + number, place);
      });
    }
    at = Math.max(end, at + 1);
  }
  return found;
}

function keysIn(node: Node): string[] {
  const found: string[] = [];
  node.descendants((inner) => {
    if (inner.isBlock && inner.attrs.key) found.push(inner.attrs.key);
  });
  return found;
}

/** With the places to write that only the editor has, behind what they followed. */
function withPlaces(before: Node[], after: Node[], known: number[]): [Node[], number[]] {
  const [nodes, places] = [[...after], [...known]];
  before.forEach((node, at) => {
    if (isWritten(node) || places.includes(at)) return;
    // An item, a cell or a page that says something needs none.
    if (before.length === 1 && nodes.length) return;
    let behind = at - 1;
    while (behind >= 0 && !places.includes(behind)) behind--;
    const place = behind < 0 ? 0 : places.indexOf(behind) + 1;
    nodes.splice(place, 0, node);
    places.splice(place, 0, at);
  });
  return [nodes, places];
}

/** Makes the node at a position another one, touching only what differs in it: carets in all the rest stay. */
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
  const words = withOwnMarks(was, withBlanks(was, now));
  // From the end, so that places before stay what they are.
  for (const { from, to, start, end } of wordChanges(was, words).reverse()) {
    const [old, next] = [was.slice(from, to).content, words.slice(start, end).content];
    // Of a word that goes on or is cut short, what both have stays: the caret may be in it.
    const head = old.findDiffStart(next);
    const tail = old.findDiffEnd(next);
    if (head === null || !tail) continue;
    const same = Math.max(0, head - Math.min(tail.a, tail.b));
    transform.replace(
      at + 1 + from + head,
      at + 1 + from + tail.a + same,
      words.slice(start + head, start + tail.b + same),
    );
  }
}

/** The same, and the whole node anew where its parts do not come out as they should. */
function becomeChecked(transform: Transform, at: number, was: Node, now: Node): void {
  const trial = new Transform(transform.doc);
  try {
    become(trial, at, was, now);
    const made = trial.doc.nodeAt(at)!;
    made.check();
    if (isSaidBy(made, writeBlock(now)) || !isWritten(now)) {
      for (const step of trial.steps) transform.step(step);
      return;
    }
  } catch (problem) {
    if (!/^(Range|Replace|Transform)Error$/.test((problem as Error).name)) throw problem;
  }
  transform.replaceWith(at, at + was.nodeSize, now);
}

/** The blanks behind the words here, which the server does not have, stay until the next word follows them. */
function withBlanks(was: Node, now: Node): Node {
  const last = was.lastChild;
  const blanks = /[ \t]+$/.exec(last?.text ?? "")?.[0];
  if (!blanks || !now.content.size || /[ \t]$/.test(now.lastChild?.text ?? "")) return now;
  return now.copy(now.content.append(Fragment.from(now.type.schema.text(blanks, last!.marks))));
}

/** Links and annotations that are the ones of before have the numbers of before. */
function withOwnMarks(was: Node, now: Node): Node {
  const known = spansOf(was);
  const names = new Map<Mark, Mark>();
  for (const [name, spans] of spansOf(now)) {
    spans.forEach((span, at) => names.set(span, known.get(name)?.[at] ?? span));
  }
  if (!names.size) return now;
  const own = (mark: Mark): Mark => [...names].find(([span]) => span.eq(mark))?.[1] ?? mark;
  return now.copy(Fragment.from(childrenOf(now).map((child) => child.mark(child.marks.map(own)))));
}

/** The links and annotations in a text, in order, by what they say. */
function spansOf(node: Node): Map<string, Mark[]> {
  const found = new Map<string, Mark[]>();
  node.forEach(({ marks }) => {
    for (const mark of marks) {
      if (mark.attrs.uid === undefined) continue;
      const name = JSON.stringify({ ...mark.toJSON(), attrs: { ...mark.attrs, uid: 0 } });
      const known = found.get(name) ?? [];
      if (!known.some((each) => each.eq(mark))) found.set(name, [...known, mark]);
    }
  });
  return found;
}

/** A page that is only read becomes what the server has now. */
export function readAgain(state: EditorState, remote: BlockJson[]): Transaction {
  const transaction = state.tr;
  replaceTop(transaction, withRemote(state.doc, remote));
  return transaction.setMeta("addToHistory", false);
}

/** The words that a step takes away, those of all ranges that it deletes. */
function deleted(step: Step, doc: Node): string[] {
  const ranges = step instanceof ReplaceStep
    ? [[step.from, step.to]]
    : step instanceof ReplaceAroundStep
    ? [[step.from, step.gapFrom], [step.gapTo, step.to]]
    : [];
  return ranges.flatMap(([from, to]) => wordsIn(doc.textBetween(from!, to!, " ", "\ufffc")));
}

function wordsIn(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|[^\s]/gu) ?? [];
}

/** Whether all of these words, in their order, are among the others; of the first and the last, a part may be. */
function areAmong(words: string[], others: string[]): boolean {
  let next = 0;
  for (const word of others) if (word === words[next]) next++;
  return next === words.length || others.join(" ").includes(words.join(" "));
}

/** The textblocks of what somebody writes that hold what a step brought, as they are in the end. */
function writtenBy(doc: Node, unsent: Unsent[], number: number): Node[] {
  const { step } = unsent[number]!;
  if (!(step instanceof ReplaceStep)) return [];
  let [from, to] = [step.from, step.from + step.slice.size];
  for (const { step: later } of unsent.slice(number + 1)) {
    [from, to] = [later.getMap().map(from, -1), later.getMap().map(to, 1)];
  }
  const found: Node[] = [];
  doc.nodesBetween(from, to, (node) => {
    if (node.isTextblock && node.content.size) found.push(node);
    return !node.isTextblock;
  });
  return found;
}

/** A step where its places are now. What somebody is writing goes on in front of what came in right there, which a new
 * paragraph leaves in the one before. */
function mappedStep(step: Step, mapping: Mapping): Step | null {
  if (!(step instanceof ReplaceStep) || step.from !== step.to || step.slice.openStart) {
    return step.map(mapping);
  }
  const { pos, deletedAcross } = mapping.mapResult(step.from, -1);
  return deletedAcross ? null : new ReplaceStep(pos, pos, step.slice);
}

function placeOf(doc: Node, key: unknown): number | undefined {
  let found: number | undefined;
  doc.descendants((node, at) => {
    if (key && node.attrs.key === key) found ??= at;
    return found === undefined && !node.isTextblock;
  });
  return found;
}

/**
 * Does what somebody wrote where it cannot be done as it was, because its place is gone or because unseen words would be
 * deleted with it. Words go into their block, wherever that is now; a block that is gone comes back with them. Nothing is
 * deleted, and what brings no words is left. Gives whether all words have a place.
 */
function spare(
  state: EditorState,
  unsent: Unsent[],
  number: number,
  at: number,
  transaction: Transaction,
): boolean {
  const { step } = unsent[number]!;
  if (!(step instanceof ReplaceStep) || !step.slice.content.size) return true;
  const { content, openStart, openEnd } = step.slice;
  const inline = !openStart && !openEnd && content.firstChild!.isInline;
  const place = Math.min(at, transaction.doc.content.size);
  for (const block of writtenBy(state.doc, unsent, number)) {
    const there = placeOf(transaction.doc, block.attrs.key);
    if (there !== undefined) {
      const now = transaction.doc.nodeAt(there)!;
      const inside = place > there && place < there + now.nodeSize;
      // What was moved here stands where the server has it.
      if (inline && !now.eq(block)) transaction.insert(inside ? place : there + now.nodeSize - 1, content);
      if (!inline && !areAmong(wordsIn(block.textContent), wordsIn(now.textContent))) return false;
      continue;
    }
    const point = insertPoint(transaction.doc, place, block.type);
    if (point === null) return false;
    transaction.insert(point, block);
  }
  return true;
}

/**
 * The state with what the server has below what is unsent, which is taken back, and done again where its places are now.
 * Gives what is unsent afterwards, and whether words of it have no place any more.
 */
export function rebased(
  state: EditorState,
  confirmed: Node,
  unsent: Unsent[],
  remote: BlockJson[],
): { transaction: Transaction; confirmed: Node; unsent: Unsent[]; lost: boolean } {
  const transaction = state.tr;
  for (const { inverted } of unsent.toReversed()) transaction.step(inverted);
  const befores = unsent.map((_, at) => transaction.docs[unsent.length - at] ?? transaction.doc);
  replaceTop(transaction, withRemote(confirmed, remote));
  const doc = transaction.doc;
  const first = transaction.steps.length;
  let lost = false;
  // As collaborative editing does it: each step again, through the undoing of those before it and what came between.
  for (let at = 0, mapFrom = unsent.length; at < unsent.length; at++) {
    const { step } = unsent[at]!;
    const mapping = transaction.mapping.slice(mapFrom);
    const mapped = mappedStep(step, mapping);
    mapFrom--;
    const seen = mapped && areAmong(deleted(mapped, transaction.doc), deleted(step, befores[at]!));
    const done = transaction.steps.length;
    if (!seen || transaction.maybeStep(mapped).failed) {
      const place = step instanceof ReplaceStep ? mapping.map(step.from) : 0;
      lost ||= !spare(state, unsent, at, place, transaction);
    }
    // What was taken back is there again: a caret in it stays in it.
    const again = transaction.steps[done];
    const same = seen ||
      again instanceof ReplaceStep && step instanceof ReplaceStep && again.slice.eq(step.slice);
    if (transaction.steps.length === done + 1 && same) {
      (transaction.mapping as Mapping & { setMirror(one: number, other: number): void }).setMirror(
        mapFrom,
        done,
      );
    }
  }
  const left = transaction.steps.slice(first).map((step, at) => ({
    step,
    inverted: step.invert(transaction.docs[first + at]!),
  }));
  const selection = followed(state, transaction, transaction.mapping);
  if (!selection.eq(transaction.selection)) transaction.setSelection(selection);
  transaction.setMeta("rebased", unsent.length).setMeta("addToHistory", false).setMeta("remote", true);
  return { transaction, confirmed: doc, unsent: left, lost };
}
