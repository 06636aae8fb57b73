/** What a tab had of a page that is edited live, kept in this browser. */
import type { EditorState, Transaction } from "prosemirror-state";
import { Step } from "prosemirror-transform";
import { childrenOf, writeDocument } from "../document/convert.ts";
import { schema } from "../document/schema.ts";
import type { BlockJson } from "../document/types.ts";
import { replaceTop } from "./difference.ts";
import { type Aside, type Batch, type Json, type Kept, type Rescue, Together } from "./together.ts";

/** A page and what the server does not have of it. */
export interface KeptPage {
  epoch: string;
  /** The document at a version, and what came after it. */
  version: number;
  document: Json;
  batches: Batch[];
  own: Kept;
  /** Words that found no place, which the server is to keep. */
  aside: { nodes: BlockJson[]; why: Aside["why"] }[];
}

export function restore({ document, batches, own }: KeptPage, onrescue?: (rescue: Rescue) => void): Together {
  let base = schema.nodeFromJSON(document);
  for (const { steps } of batches) {
    for (const each of steps) base = Step.fromJSON(schema, each).apply(base).doc!;
  }
  return Together.restore(own, base, onrescue);
}

/** The blocks of a page as a tab had it. */
export function blocksOf(kept: KeptPage): BlockJson[] {
  return writeDocument(restore(kept).doc).nodes;
}

/** The transaction that brings what a tab had and the server does not into what is shown, as if it were written now. */
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
