/** Compares the blocks of two states of a page. Blocks keep their keys, so they are paired by key. */
import type { Node } from "prosemirror-model";
import { childrenOf } from "../document/building.ts";
import { longestRun } from "../document/comparing.ts";
import { readDocument, writeBlock } from "../document/convert.ts";
import type { BlockJson, DocumentJson } from "../document/types.ts";

export interface Row {
  kind: "same" | "changed" | "added" | "removed" | "moved";
  before?: Node;
  after?: Node;
  /** The current keys of the block and its content, for comments. */
  keys: string[];
  /** Whether the content of a block changed, in addition to its position. */
  edited: boolean;
}

/** Return a block as text without parts that can differ although its content is the same, such as IDs of parts and
 * heading anchors. */
const saying = (block: BlockJson): string =>
  JSON.stringify(block, (name, value) => name === "key" || name === "meta" ? undefined : value);

const keyOf = (json: BlockJson, at: number): string => json.key ?? `#${at} ${saying(json)}`;

function keysIn(value: unknown, into: string[] = []): string[] {
  if (Array.isArray(value)) { for (const each of value) keysIn(each, into); }
  else if (value && typeof value === "object") {
    const { key, nodes, fragments } = value as BlockJson;
    if (key) into.push(key);
    keysIn(nodes, into);
    keysIn(fragments, into);
  }
  return into;
}

const blocksOf = (document: DocumentJson | undefined): Node[] =>
  document?.nodes.length ? childrenOf(readDocument(document)) : [];

/** Return the blocks in the order of the later state. Removed blocks are at their old position. */
export function compareBlocks(before: DocumentJson | undefined, after: DocumentJson | undefined): Row[] {
  const old = blocksOf(before);
  const now = blocksOf(after);
  const places = new Map((before?.nodes ?? []).map((json, at) => [keyOf(json, at), at]));
  const origin = now.map((_, at) => places.get(keyOf(after!.nodes[at]!, at)));
  const known = origin.filter((at) => at !== undefined);
  // The blocks that didn't move.
  const stays = new Set(longestRun(known).map((at) => known[at]!));
  const kept = new Set(origin);
  const rows: Row[] = [];
  let next = 0;
  const tellRemoved = (until: number): void => {
    for (; next < until; next++) {
      if (!kept.has(next)) rows.push({ kind: "removed", before: old[next]!, keys: [], edited: false });
    }
  };
  now.forEach((node, at) => {
    const from = origin[at];
    const keys = keysIn(after!.nodes[at]);
    if (from === undefined) return rows.push({ kind: "added", after: node, keys, edited: false });
    const edited = saying(writeBlock(old[from]!)) !== saying(writeBlock(node));
    const moved = !stays.has(from);
    if (!moved) tellRemoved(from);
    rows.push({
      kind: moved ? "moved" : edited ? "changed" : "same",
      before: old[from]!,
      after: node,
      keys,
      edited,
    });
  });
  tellRemoved(old.length);
  return rows;
}
