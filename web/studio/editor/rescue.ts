/** Preserves other people's text, and text whose place no longer exists, when steps are applied to a different
 * document. */
import { Fragment, type Node, Slice } from "prosemirror-model";
import {
  type Mapping,
  ReplaceAroundStep,
  ReplaceStep,
  type Step,
  type StepMap,
  type Transform,
} from "prosemirror-transform";
import { newKey } from "../document/schema.ts";

export type Region = [from: number, to: number];

/** Ranges of a changing document. */
export class Ranges {
  #list: Region[] = [];

  map(map: StepMap): void {
    this.#list = this.#list
      .map(([from, to]): Region => [map.map(from, 1), map.map(to, -1)])
      .filter(([from, to]) => to > from);
  }

  /** Add the ranges that a step inserts. */
  add(map: StepMap): void {
    map.forEach((_from, _to, start, end) => {
      if (end > start) this.#list.push([start, end]);
    });
  }

  /** Remove the ranges that a step inserts. */
  without(map: StepMap): void {
    map.forEach((_from, _to, start, end) => {
      this.#list = this.#list.flatMap(([from, to]): Region[] =>
        from < end && to > start
          ? ([[from, Math.min(start, to)], [Math.max(end, from), to]] as Region[]).filter(([a, b]) => b > a)
          : [[from, to]]
      );
    });
  }

  /** Return the parts between two positions, in order and without duplicates. */
  between(from: number, to: number): Region[] {
    const found: Region[] = [];
    const inside = this.#list.filter(([start, end]) => start < to && end > from);
    for (const [start, end] of inside.sort((one, other) => one[0] - other[0])) {
      const last = found.at(-1);
      if (last && start <= last[1]) last[1] = Math.max(last[1], Math.min(end, to));
      else found.push([Math.max(start, from), Math.min(end, to)]);
    }
    return found;
  }

  /** Return the parts that a step deletes. */
  within(step: Step): Region[] {
    return deleted(step).flatMap(([from, to]) => this.between(from, to));
  }
}

/** Return the ranges that a step deletes. */
export function deleted(step: Step): Region[] {
  if (step instanceof ReplaceStep) return [[step.from, step.to]];
  if (step instanceof ReplaceAroundStep) return [[step.from, step.gapFrom], [step.gapTo, step.to]];
  return [];
}

/** Return whether a slice contains anything worth preserving: a letter, an image, or any other leaf except a line
 * break. */
export function hasWords(content: Fragment): boolean {
  let found = false;
  content.descendants((node) => !(found ||= node.isText || (node.isLeaf && node.type.name !== "hard_break")));
  return found;
}

/**
 * Return the parts of a range that remain after the maps from `first` on, in order. Other people's text may be
 * between them, and the person's own text may have moved elsewhere, so deleting the whole range would delete text
 * that wasn't in it.
 */
function leftOf([from, to]: Region, mapping: Mapping, first: number): Region[] {
  let left: Region[] = [[from, to]];
  /** For each map: ranges that it deleted and that a later map restores, as the number of the range in that map and
   * offsets in it. */
  const away = new Map<number, [range: number, from: number, to: number][]>();
  mapping.maps.slice(first).forEach((map, number) => {
    const at = first + number;
    const gone: [number, number, number][] = [];
    const next: Region[] = [];
    let range = 0;
    let past = 0;
    let shift = 0;
    const keep = (start: number, end: number): void => {
      for (const [a, b] of left) {
        const [low, high] = [Math.max(a, start), Math.min(b, end)];
        if (low < high) next.push([low + shift, high + shift]);
      }
    };
    const mirror = mapping.getMirror(at);
    const back = mirror === undefined ? [] : away.get(mirror) ?? [];
    map.forEach((oldStart, oldEnd, newStart, newEnd) => {
      keep(past, oldStart);
      for (const [a, b] of left) {
        const [low, high] = [Math.max(a, oldStart), Math.min(b, oldEnd)];
        if (low < high) gone.push([range, low - oldStart, high - oldStart]);
      }
      for (const [number, a, b] of back) if (number === range) next.push([newStart + a, newStart + b]);
      range++;
      past = oldEnd;
      shift = newEnd - oldEnd;
    });
    keep(past, Infinity);
    away.set(at, gone);
    left = next;
  });
  const found: Region[] = [];
  for (const [start, end] of left.sort((one, other) => one[0] - other[0])) {
    const last = found.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
}

/** Return the parts that remain of everything that a step deletes. */
export function leftToDelete(step: Step, mapping: Mapping, first: number): Region[] {
  return deleted(step).flatMap((range) => leftOf(range, mapping, first));
}

/** Return whether a step, at its mapped position, deletes other text than the text in these regions. */
export function deletesOther(step: Step, regions: Region[], doc: Node): boolean {
  const ranges = deleted(step);
  return hasWordsBeside(ranges, regions, doc) || hasWordsBeside(regions, ranges, doc);
}

/** Return whether regions contain text outside others. */
function hasWordsBeside(regions: Region[], others: Region[], doc: Node): boolean {
  return regions.some(([from, to]) => {
    let at = from;
    for (const [start, end] of [...others, [to, to]]) {
      if (start! > at && hasWords(doc.slice(at, Math.min(start!, to)).content)) return true;
      at = Math.max(at, end!);
      if (at >= to) break;
    }
    return false;
  });
}

/** Return regions without single positions. */
export function withoutPlaces(regions: Region[], places: number[]): Region[] {
  return places.reduce<Region[]>(
    (left, place) =>
      left.flatMap(([from, to]): Region[] =>
        place < from || place >= to
          ? [[from, to]]
          : ([[from, place], [place + 1, to]] as Region[]).filter(([a, b]) => b > a)
      ),
    regions,
  );
}

/** Apply a step if possible. Return whether it was applied. */
export function fits(made: Transform, step: Step): boolean {
  try {
    return !made.maybeStep(step).failed;
  } catch (problem) {
    if (!(problem instanceof RangeError)) throw problem;
    return false;
  }
}

/** Delete the content of these regions, and the blocks that are entirely inside one. Cells stay, because the next ones
 * would move to other columns. */
export function deleteWithin(made: Transform, regions: Region[]): void {
  const gone: Region[] = [];
  made.doc.nodesBetween(regions[0]?.[0] ?? 0, regions.at(-1)?.[1] ?? 0, (node, at) => {
    const end = at + node.nodeSize;
    const isCell = /^table_(cell|heading|value)$/.test(node.type.name);
    if (!node.isInline && !isCell && regions.some(([from, to]) => at >= from && end <= to)) {
      gone.push([at, end]);
      return false;
    }
    if (!node.isTextblock) return true;
    for (const [from, to] of regions) {
      const [low, high] = [Math.max(from, at + 1), Math.min(to, end - 1)];
      if (low < high) gone.push([low, high]);
    }
    return false;
  });
  for (const [start, end] of gone.reverse()) {
    // The only block of a cell stays without its text.
    if (!fits(made, new ReplaceStep(start, end, Slice.empty)) && end - start > 2) {
      fits(made, new ReplaceStep(start + 1, end - 1, Slice.empty));
    }
  }
}

export function isInline({ content, openStart, openEnd }: Slice): boolean {
  return !openStart && !openEnd && content.firstChild?.isInline === true;
}

export function byKey(doc: Node, key: string | null | undefined): { node: Node; pos: number } | undefined {
  let found: { node: Node; pos: number } | undefined;
  if (key) {
    doc.descendants((node, pos) => {
      if (!found && node.attrs.key === key) found = { node, pos };
      return !found && !node.isTextblock;
    });
  }
  return found;
}

/** Insert text from a document into its block at the same position. Return false if the block no longer exists. */
export function putBack(made: Transform, doc: Node, from: number, to: number): boolean {
  const $from = doc.resolve(from);
  const old = $from.parent;
  const there = byKey(made.doc, old.attrs.key);
  if (!there?.node.inlineContent) return false;
  const start = $from.start();
  const at = there.pos + 1 + offsetIn(old, there.node, from - start, to - start);
  return fits(made, new ReplaceStep(at, at, doc.slice(from, to)));
}

/** Return whether a step only splits a block, as Enter does. */
export function isSplit({ from, to, slice }: ReplaceStep): boolean {
  return from === to && slice.openStart > 0 && slice.openStart === slice.openEnd && !hasWords(slice.content);
}

/** Split a block at the same position as a step of another document. Return false if the block no longer exists. */
export function splitAgain(made: Transform, doc: Node, { from, slice }: ReplaceStep): boolean {
  const { parent, parentOffset } = doc.resolve(from);
  const there = byKey(made.doc, parent.attrs.key);
  if (!there?.node.inlineContent) return false;
  const isAtEnd = parentOffset === parent.content.size;
  const offset = isAtEnd ? there.node.content.size : offsetIn(parent, there.node, parentOffset, parentOffset);
  const at = there.pos + 1 + offset;
  return fits(made, new ReplaceStep(at, at, slice, true));
}

/** Return the offset of a part of a block in another state of it. */
function offsetIn(was: Node, now: Node, from: number, to: number): number {
  const head = was.content.findDiffStart(now.content);
  if (head === null || from <= head) return wholeLetter(now, Math.min(from, now.content.size));
  const tail = was.content.findDiffEnd(now.content)!;
  const end = now.content.size - (was.content.size - to);
  const isBehind = /^\s/.test(textOf(was).slice(from, to));
  // If the same space ends one side and starts the other, text with a leading space goes before it.
  if (to >= tail.a && (end >= head || isBehind)) return wholeLetter(now, end);
  return wholeWord(now, Math.min(head, now.content.size), isBehind ? 1 : -1);
}

/** Return the text of a block, with a character for each image or other leaf. */
export const textOf = (block: Node): string => block.textBetween(0, block.content.size, undefined, "\ufffc");

/** Return an offset in a block. If it would split a letter, it is moved before the letter. */
function wholeLetter(block: Node, offset: number): number {
  const code = textOf(block).charCodeAt(offset);
  return code >= 0xdc00 && code <= 0xdfff ? offset - 1 : offset;
}

/** A letter of a script that separates words with spaces. */
const LETTER = /[^\P{L}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|\p{N}/u;

/** Return an offset in a block. If it would split a word, it is moved to the start (-1) or end (1) of the word. */
function wholeWord(block: Node, offset: number, side: -1 | 1): number {
  const text = textOf(block);
  const isWithin = (at: number): boolean => LETTER.test(text[at] ?? "") && LETTER.test(text[at - 1] ?? "");
  let at = wholeLetter(block, offset);
  while (isWithin(at)) at += side;
  return at;
}

/** Insert blocks after the one at a position. */
export function putBlocks(made: Transform, blocks: readonly Node[], place: number): boolean {
  const nodes = blocks.flatMap((block) => standing(block, made.doc)).map((node) => named(node, made.doc));
  if (!nodes.length) return false;
  const $at = made.doc.resolve(place);
  const at = $at.depth ? $at.after(1) : place;
  return fits(made, new ReplaceStep(at, at, new Slice(Fragment.from(nodes), 0, 0)));
}

/** Return a block in a form that fits on a page, or else each text in it as a paragraph. */
export function standing(node: Node, doc: Node): Node[] {
  const { contentMatch, schema } = doc.type;
  if (contentMatch.matchType(node.type)) {
    try {
      node.check();
      return [node];
    } catch {
      // The block was cut open, and the rest of it is elsewhere.
    }
  }
  const paragraph = schema.nodes.paragraph!;
  if (node.isInline) return [paragraph.create({ key: newKey() }, node)];
  if (!node.isTextblock) return node.children.flatMap((child) => standing(child, doc));
  const content = paragraph.validContent(node.content)
    ? node.content
    : Fragment.from(node.textContent ? schema.text(node.textContent) : null);
  return content.size ? [paragraph.create({ key: node.attrs.key ?? null }, content)] : [];
}

/** Return a block with keys that a document doesn't use. */
function named(node: Node, doc: Node): Node {
  if (node.isInline) return node;
  const content = node.isTextblock
    ? node.content
    : Fragment.from(node.children.map((child) => named(child, doc)));
  const { key } = node.attrs;
  if (key === undefined || (key && !byKey(doc, key))) return node.copy(content);
  return node.type.create({ ...node.attrs, key: newKey() }, content, node.marks);
}
