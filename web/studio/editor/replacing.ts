/** Find and replace in all pages of a space: what is found is shown first, and what is replaced is an edit of blocks. */
import { EditorState } from "prosemirror-state";
import { readDocument, writeDocument } from "../document/convert.ts";
import { changeContent, type Changes } from "../state/changing.ts";
import { readMarkdown } from "../state/pages.svelte.ts";
import type { TreePage } from "../state/parts.ts";
import type { Base } from "./base.ts";
import { type BlockChange, changedBlocks } from "./differences.ts";
import { findText } from "./finding.ts";
import { loadPage } from "./page.ts";

export interface Wanted {
  query: string;
  /** Letters of either case are different. */
  exact: boolean;
}

/** Words of a page that were found, with what stands around them. */
export interface Place {
  before: string;
  words: string;
  after: string;
}

export interface FoundPage {
  page: TreePage;
  count: number;
  /** The first of them. */
  places: Place[];
}

const AT_ONCE = 4;
const SHOWN = 3;
const AROUND = 40;
const PAGES_A_SAVE = 20;

/** Whether a page may have the words: its Markdown has signs between them that its text has not. */
function mayHave(markdown: string, { query }: Wanted): boolean {
  const plain = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
  const letters = plain(query);
  return letters === "" || plain(markdown).includes(letters) || /&#?\w+;/.test(markdown);
}

/** The end of a text, from where a word begins. */
function cut(text: string): string {
  return text.length > AROUND ? `…${text.slice(-AROUND).replace(/^\S*\s/, "")}` : text;
}

/** Looks through pages, some at a time; tells of each that has the words, and how many were looked at. */
export async function findInSpace(
  space: string,
  base: Base,
  pages: TreePage[],
  wanted: Wanted,
  told: { signal: AbortSignal; onfound: (found: FoundPage) => void; onlooked: (count: number) => void },
): Promise<void> {
  let next = 0;
  let looked = 0;
  const look = async (): Promise<void> => {
    while (next < pages.length && !told.signal.aborted) {
      const page = pages[next++]!;
      if (mayHave(await readMarkdown(space, base, page.id), wanted)) {
        const { document } = await loadPage(space, base, page.id);
        if (told.signal.aborted) return;
        const doc = readDocument(document);
        const matches = findText(doc, wanted.query, wanted.exact);
        const places = matches.slice(0, SHOWN).map(({ from, to }) => {
          const at = doc.resolve(from);
          return {
            before: cut(doc.textBetween(at.start(), from, " ", "…")),
            words: doc.textBetween(from, to, " "),
            after: doc.textBetween(to, Math.min(at.end(), to + AROUND), " ", "…"),
          };
        });
        if (matches.length) told.onfound({ page, count: matches.length, places });
      }
      told.onlooked(++looked);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, look));
}

/** Replaces the words in these pages of a change request. Gives how many places, and the revision before. */
export async function replaceInSpace(
  space: string,
  change: number,
  pages: string[],
  wanted: Wanted,
  other: string,
): Promise<{ count: number; before: string | undefined }> {
  const base: Base = { kind: "change", number: change };
  let count = 0;
  let before: string | undefined;
  for (let start = 0; start < pages.length; start += PAGES_A_SAVE) {
    const changes: unknown[] = [];
    let revision: string | undefined;
    for (const page of pages.slice(start, start + PAGES_A_SAVE)) {
      const loaded = await loadPage(space, base, page);
      revision ??= loaded.revision;
      const made = replaced(loaded.document, wanted, other);
      if (!made) continue;
      count += made.count;
      changes.push({ operation: "update_blocks", page, set: made.set });
    }
    if (!changes.length) continue;
    before ??= revision;
    await changeContent(space, base, { changes: changes as Changes, baseRevision: revision! });
  }
  return { count, before };
}

/** What changes in the blocks of a page, and at how many places; undefined where the words are not in it. */
export function replaced(
  document: Parameters<typeof readDocument>[0],
  wanted: Wanted,
  other: string,
): { set: BlockChange[]; count: number } | undefined {
  const state = EditorState.create({ doc: readDocument(document) });
  const matches = findText(state.doc, wanted.query, wanted.exact);
  const transaction = state.tr;
  for (const { from, to } of matches.toReversed()) {
    if (other) transaction.insertText(other, from, to);
    else transaction.delete(from, to);
  }
  const set = changedBlocks(writeDocument(state.doc).nodes, writeDocument(transaction.doc).nodes);
  return set.length ? { set, count: matches.length } : undefined;
}

/** Puts pages back as they were in a revision. */
export async function putBack(
  space: string,
  change: number,
  pages: string[],
  revision: string,
): Promise<void> {
  await changeContent(space, { kind: "change", number: change }, {
    changes: pages.map((page) => ({ operation: "revert_page" as const, page, revision })),
  });
}
