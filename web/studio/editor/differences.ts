/** The changes to the blocks of a page, in the format of the API's `update_blocks`. Blocks are identified by their keys. */
import { same } from "../document/comparing.ts";
import { table } from "../document/table.ts";
import type { BlockJson, FragmentJson, Json } from "../document/types.ts";

export interface BlockChange {
  block: string;
  document: { document: BlockJson[] };
}

/** Return the blocks whose content changed. */
export function changedBlocks(before: BlockJson[], after: BlockJson[]): BlockChange[] {
  const known = new Map(before.map((block) => [block.key, block]));
  return after.flatMap((block) => {
    const was = known.get(block.key);
    if (!was || was === block || same(was, block)) return [];
    const [key, nodes] = inside(was, block) ?? [block.key!, [block]];
    return [{ block: key, document: { document: nodes } }];
  });
}

type Part = BlockJson | FragmentJson;

/** Return the smallest part of a block that contains all its changes, with the replacement. */
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
