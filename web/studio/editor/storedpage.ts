/** The state of a page in a tab with live editing, stored in this browser. */
import type { EditorState, Transaction } from "prosemirror-state";
import { Step } from "prosemirror-transform";
import { childrenOf } from "../document/building.ts";
import { writeBlock, writeDocument } from "../document/convert.ts";
import { schema } from "../document/schema.ts";
import type { BlockJson } from "../document/types.ts";
import { replaceTop } from "./difference.ts";
import { type Aside, type Batch, type Json, type Kept, type Rescue, Together } from "./together.ts";

/** A page, and its changes that the server doesn't have. */
export interface KeptPage {
  epoch: string;
  /** The document at a version, and the batches after it. */
  version: number;
  document: Json;
  batches: Batch[];
  own: Kept;
  /** Text that couldn't be placed and that the server will store. */
  aside: { nodes: BlockJson[]; why: Aside["why"] }[];
}

/** Restore the stored state. `tab`: the name of the tab that continues the changes; `user`: the ID of the person. */
export function restore(
  { document, batches, own }: KeptPage,
  onrescue?: (rescue: Rescue) => void,
  tab?: string,
  user?: string | null,
): Together {
  let base = schema.nodeFromJSON(document);
  for (const { steps } of batches) {
    for (const each of steps) base = Step.fromJSON(schema, each).apply(base).doc!;
  }
  return Together.restore(own, base, onrescue, tab, user);
}

/** Return the blocks of a page in the state that a tab stored, and the text that couldn't be placed. */
export function blocksOf(kept: KeptPage): BlockJson[] {
  const aside = kept.aside.flatMap(({ nodes }) => nodes);
  try {
    return [...writeDocument(restore(kept).doc).nodes, ...aside];
  } catch {
    return [...typedBlocks(kept), ...aside];
  }
}

/** Return the typed text of stored changes as paragraphs, because this version of the app can't read the changes. */
export function typedBlocks({ own }: KeptPage): BlockJson[] {
  const texts: string[] = [];
  let end: unknown;
  for (const { from, slice, attr, value } of own.steps) {
    if (attr === "key" || attr === "col") continue;
    const text = stringsOf(slice).join(" ") || stringsOf(value).join(" ");
    if (!text) continue;
    if (from === undefined || from !== end) texts.push("");
    texts[texts.length - 1] += text;
    end = Number(from) + text.length;
  }
  return texts.map((text) => writeBlock(schema.nodes.paragraph!.create(null, schema.text(text))));
}

/** Return the texts in JSON of a slice or an attribute, without the names of types. */
function stringsOf(json: unknown): string[] {
  if (typeof json === "string") return json ? [json] : [];
  if (typeof json !== "object" || json === null) return [];
  const { text, content } = json as Json;
  if (typeof text === "string") return [text];
  return Array.isArray(content)
    ? content.flatMap(stringsOf)
    : "type" in json
    ? []
    : Object.values(json).flatMap(stringsOf);
}

/** Return the transaction that adds a tab's unsent changes to the current page, as if they were typed now. */
export function withWritten(
  other: Together,
  state: EditorState,
  shown: EditorState,
): Transaction | undefined {
  if (!other.pending.length) return undefined;
  other.moved(state, 0, shown.doc);
  const transaction = shown.tr;
  replaceTop(transaction, childrenOf(other.doc));
  return transaction;
}
