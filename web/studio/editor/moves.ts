/** Moves of blocks. If other people change a block before the server has its move, their changes move with it. */
import { Fragment, type Node, Slice } from "prosemirror-model";
import { ReplaceStep, type Step, type StepMap, Transform } from "prosemirror-transform";
import { replaceNodes } from "./difference.ts";
import { byKey, fits, type Region } from "./rescue.ts";

interface Change {
  step: Step;
  before: Node;
}

/** Return the blocks that a step deletes without a replacement; undefined if it deletes anything else. */
function deletedBlocks({ step, before }: Change): Fragment | undefined {
  if (!(step instanceof ReplaceStep) || step.from === step.to || step.slice.size) return undefined;
  return blocksBetween(before, [step.from, step.to]);
}

/** Return the whole blocks in a range; undefined if the range contains anything else. */
function blocksBetween(doc: Node, [from, to]: Region): Fragment | undefined {
  const { content, openStart, openEnd } = doc.slice(from, to);
  return openStart || openEnd || !content.firstChild?.isBlock ? undefined : content;
}

/**
 * Return, by the index of each deletion, the index of the later insertion of the same blocks. `sent`: the number of
 * initial changes that are sent as one batch; a move is never split between batches.
 */
export function findMoves(changes: readonly Change[], sent: number): Map<number, number> {
  const found = new Map<number, number>();
  const taken = new Set<number>();
  changes.forEach((change, at) => {
    const blocks = deletedBlocks(change);
    if (!blocks) return;
    const end = at < sent ? sent : changes.length;
    for (let next = at + 1; next < end; next++) {
      const { step } = changes[next]!;
      if (
        !taken.has(next) && step instanceof ReplaceStep && step.from === step.to &&
        !step.slice.openStart && step.slice.content.eq(blocks)
      ) {
        taken.add(next);
        found.set(at, next);
        return;
      }
    }
  });
  return found;
}

/**
 * Delete blocks that are moved, in the state that other people have changed or moved them to, and return their
 * current content. Return undefined if `mapped`, the deletion at its current position, is sufficient.
 */
export function takeMoved(made: Transform, change: Change, mapped: Step | null): Fragment | undefined {
  const before = deletedBlocks(change)!;
  if (mapped instanceof ReplaceStep && mapped.to > mapped.from) {
    const content = blocksBetween(made.doc, [mapped.from, mapped.to]);
    return content && !content.eq(before) && fits(made, mapped) ? content : undefined;
  }
  const there = before.childCount === 1 ? findBlock(made.doc, before.firstChild!) : undefined;
  if (!there) return undefined;
  const { node, pos } = there;
  return fits(made, new ReplaceStep(pos, pos + node.nodeSize, Slice.empty)) ? Fragment.from(node) : undefined;
}

/** Return a block's place in another document. A row or cell of a table has no key; the first block in it does. */
export function findBlock(doc: Node, block: Node): { node: Node; pos: number } | undefined {
  let key: string | null | undefined = block.attrs.key;
  block.descendants((node) => !(key ??= node.attrs.key));
  const found = byKey(doc, key);
  if (!found || block.attrs.key) return found;
  const $place = doc.resolve(found.pos);
  for (let depth = $place.depth; depth > 0; depth--) {
    if ($place.node(depth).type === block.type) {
      return { node: $place.node(depth), pos: $place.before(depth) };
    }
  }
  return undefined;
}

/**
 * Return the maps from the document before the insertion of moved blocks to the one after it: the insertion of the blocks
 * as their author moved them, and the changes of others. `at`: the position of the insertion.
 */
export function mapsOfMoved(doc: Node, at: number, was: Fragment, now: Fragment): readonly StepMap[] {
  const trial = new Transform(doc).step(new ReplaceStep(at, at, new Slice(was, 0, 0)));
  replaceNodes(trial, at, was.content, now.content);
  return trial.mapping.maps;
}
