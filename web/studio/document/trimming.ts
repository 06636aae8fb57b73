/**
 * Removes spaces around the text of a paragraph or heading. Markdown can only represent them as entities, and
 * people rarely intend them.
 */
import type { BlockJson, FragmentJson, InlineJson, TextJson } from "./types.ts";

type Part = BlockJson | FragmentJson;
type Words = TextJson | InlineJson;

const TEXTS = new Set(["paragraph", "heading-1", "heading-2", "heading-3"]);

/** Return a block without these spaces. Spaces that are already in `was`, the block in the file, are kept, because
 * they weren't typed just now. */
export function trimmed(block: BlockJson, was?: BlockJson): BlockJson {
  const kept = new Set<string>();
  if (was) collect(was, kept);
  return trim(block, kept);
}

function collect(part: Part, kept: Set<string>): void {
  if (isText(part)) {
    const nodes = (part.nodes ?? []) as Words[];
    const text = nodes.map((node) =>
      node.object === "text" ? node.leaves.map(({ text }) => text).join("") : "-"
    );
    if (part.key && /^[ \t]|[ \t]$/.test(text.join(""))) kept.add(part.key);
    return;
  }
  for (const child of childrenOf(part)) collect(child, kept);
}

function isText(part: Part): boolean {
  return TEXTS.has((part as BlockJson).type);
}

function isPart(node: BlockJson | Words): node is BlockJson {
  return node.object === undefined || node.object === "block";
}

function childrenOf(part: Part): Part[] {
  const { nodes = [], fragments = [] } = part as BlockJson;
  return [...nodes.filter(isPart), ...fragments];
}

/** Trim a part; return the same object if there is nothing to remove. */
function trim<T extends Part>(part: T, kept: Set<string>): T {
  if (isText(part)) {
    if (part.key && kept.has(part.key)) return part;
    const nodes = part.nodes as Words[] | undefined;
    const words = nodes && without(without(nodes, "start"), "end");
    return words === nodes ? part : { ...part, nodes: words };
  }
  const { nodes, fragments } = part as BlockJson;
  const inner = changed(nodes, (node) => isPart(node) ? trim(node, kept) : node);
  const parts = changed(fragments, (fragment) => trim(fragment, kept));
  if (inner === nodes && parts === fragments) return part;
  return { ...part, ...(inner ? { nodes: inner } : {}), ...(parts ? { fragments: parts } : {}) };
}

function changed<T>(list: T[] | undefined, change: (each: T) => T): T[] | undefined {
  const found = list?.map(change);
  return found?.some((each, at) => each !== list![at]) ? found : list;
}

/** Remove spaces at one end of the text, up to the first icon, image, or link. */
function without(nodes: Words[], end: "start" | "end"): Words[] {
  const found = [...nodes];
  const place = (list: unknown[]): number => end === "start" ? 0 : list.length - 1;
  let different = false;
  while (found.length) {
    const node = found[place(found)]!;
    if (node.object !== "text") break;
    const leaves = [...node.leaves];
    while (leaves.length) {
      const leaf = leaves[place(leaves)]!;
      const text = leaf.text.replace(end === "start" ? /^[ \t]+/ : /[ \t]+$/, "");
      if (text === leaf.text && text) break;
      different = true;
      if (text) {
        leaves[place(leaves)] = { ...leaf, text };
        break;
      }
      leaves.splice(place(leaves), 1);
    }
    if (leaves.length) {
      if (leaves.length !== node.leaves.length || leaves.some((leaf, at) => leaf !== node.leaves[at])) {
        found[place(found)] = { ...node, leaves };
      }
      break;
    }
    different = true;
    found.splice(place(found), 1);
  }
  return different ? found : nodes;
}
