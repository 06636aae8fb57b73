/**
 * What changed between two states of a page, block by block, as the API's `update_blocks` takes it: what is set, inserted,
 * moved and deleted, in that order. Blocks are the same while their keys are.
 */
import { same } from "../document/convert.ts";
import { table } from "../document/table.ts";
import type { BlockJson, FragmentJson, Json } from "../document/types.ts";
import { longestRun } from "./difference.ts";

interface DocumentInput {
  document: BlockJson[];
}

/** Behind a block, or `into` the page (null) at the very beginning. */
type Place = { after: string } | { into: null; at: number };

export interface BlockChanges {
  set: { block: string; document: DocumentInput }[];
  insert: (Place & { document: DocumentInput })[];
  move: (Place & { blocks: string[] })[];
  delete: string[];
}

/** The changes from one list of blocks to another, each with keys of its own; null where there are none. */
export function difference(before: BlockJson[], after: BlockJson[]): BlockChanges | null {
  const found: BlockChanges = { set: [], insert: [], move: [], delete: [] };
  const known = new Map(before.map((block, at) => [block.key!, { block, at }]));
  const now = new Set(after.map((block) => block.key!));
  for (const block of before) if (!now.has(block.key!)) found.delete.push(block.key!);
  const kept = after.filter((block) => known.has(block.key!));
  for (const block of kept) {
    const was = known.get(block.key!)!.block;
    if (was === block || same(was, block)) continue;
    const [key, nodes] = narrowed(was, block);
    found.set.push({ block: key, document: { document: nodes } });
  }
  // Those that stay where they are, in the order of both; all others are between two of them.
  const staying = new Set(
    longestRun(kept.map((block) => known.get(block.key!)!.at)).map((at) => kept[at]!.key!),
  );
  let anchor: Place = { into: null, at: 0 };
  let gap: BlockJson[] = [];
  const close = (): void => {
    const fresh = gap.filter((block) => !known.has(block.key!));
    if (fresh.length) found.insert.push({ ...anchor, document: { document: fresh } });
    if (fresh.length < gap.length) found.move.push({ ...anchor, blocks: gap.map((block) => block.key!) });
    gap = [];
  };
  for (const block of after) {
    if (!staying.has(block.key!)) {
      gap.push(block);
      continue;
    }
    close();
    anchor = { after: block.key! };
  }
  close();
  return found.set.length || found.insert.length || found.move.length || found.delete.length ? found : null;
}

type Part = BlockJson | FragmentJson;

/** The smallest part of a block that holds all that changed in it, with what takes its place. */
function narrowed(was: BlockJson, now: BlockJson): [string, BlockJson[]] {
  return inside(was, now) ?? [now.key!, [now]];
}

function inside(was: Part, now: Part): [string, BlockJson[]] | undefined {
  const { nodes: wasNodes = [], fragments: wasFragments = [], ...wasRest } = was as BlockJson;
  const { nodes: nowNodes = [], fragments: nowFragments = [], ...nowRest } = now as BlockJson;
  if (!same(wasRest, nowRest)) return undefined;
  const before: Part[] = [...(wasNodes.filter(isBlock) as Part[]), ...wasFragments];
  const after: Part[] = [...(nowNodes.filter(isBlock) as Part[]), ...nowFragments];
  if (wasNodes.some((node) => !isBlock(node)) || nowNodes.some((node) => !isBlock(node))) return undefined;
  if (before.length !== after.length || before.some((part, at) => !part.key || part.key !== after[at]!.key)) {
    return undefined;
  }
  const changed = after.filter((part, at) => !same(before[at], part));
  if (changed.length !== 1) return undefined;
  const part = changed[0]!;
  const deeper = inside(before.find((each) => each.key === part.key)!, part);
  if (deeper) return deeper;
  if (!("type" in part) || part.object === "fragment") return [part.key!, part.nodes as BlockJson[]];
  return table.nestedOnly.includes(part.type!) ? undefined : [part.key!, [part as BlockJson]];
}

function isBlock(node: unknown): boolean {
  const object = (node as { object?: Json }).object;
  return object === undefined || object === "block";
}

/** The blocks after changes that `difference` gave for them. */
export function applyChanges(blocks: BlockJson[], changes: BlockChanges): BlockJson[] {
  const set = new Map(changes.set.map((each) => [each.block, each.document.document]));
  const known = new Set(set.size ? blocks.flatMap(keysOf) : []);
  const moved = new Set(changes.move.flatMap((each) => each.blocks));
  const gone = new Set(changes.delete);
  let found = blocks.flatMap((block) => replaced(block, set));
  const put = (place: Place, nodes: BlockJson[]): void => {
    const at = "after" in place ? found.findIndex((block) => block.key === place.after) : -1;
    found = "after" in place && at < 0 ? [...found, ...nodes] : found.toSpliced(at + 1, 0, ...nodes);
  };
  for (const each of changes.insert) put(each, each.document.document);
  // What was written in a block that is gone stands at the end rather than nowhere.
  for (const [key, nodes] of set) if (!known.has(key)) found.push(...nodes.filter((node) => isBlock(node)));
  const byKey = new Map(found.map((block) => [block.key!, block]));
  found = found.filter((block) => !moved.has(block.key!));
  for (const each of changes.move) {
    put(
      each,
      each.blocks.map((key) => byKey.get(key)).filter((block) => block !== undefined),
    );
  }
  return found.filter((block) => !gone.has(block.key!));
}

function keysOf(block: BlockJson): string[] {
  return [
    ...(block.key ? [block.key] : []),
    ...(block.nodes ?? []).flatMap((node) => isBlock(node) ? keysOf(node as BlockJson) : []),
    ...(block.fragments ?? []).flatMap((each) => [
      ...(each.key ? [each.key] : []),
      ...each.nodes.flatMap(keysOf),
    ]),
  ];
}

function replaced(block: BlockJson, set: Map<string, BlockJson[]>): BlockJson[] {
  const other = set.get(block.key ?? "");
  if (other) return other;
  let changed = false;
  const nodes = block.nodes?.flatMap((node) => {
    if (!isBlock(node)) return [node];
    const next = replaced(node as BlockJson, set);
    changed ||= next.length !== 1 || next[0] !== node;
    return next;
  });
  const fragments = block.fragments?.map((fragment) => {
    const own = set.get(fragment.key ?? "");
    const inner = own ?? fragment.nodes.flatMap((node) => replaced(node, set));
    if (
      own === undefined && inner.length === fragment.nodes.length &&
      inner.every((node, at) => node === fragment.nodes[at])
    ) return fragment;
    changed = true;
    return { ...fragment, nodes: inner };
  });
  return [changed ? { ...block, ...(nodes ? { nodes } : {}), ...(fragments ? { fragments } : {}) } : block];
}
