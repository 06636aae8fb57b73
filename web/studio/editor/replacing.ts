/** Finds and replaces text in all pages of a space. Matches are shown first, and each replacement is an edit of
 * blocks. */
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
  /** Match case. */
  exact: boolean;
}

/** Matched text of a page, with the text around it. */
export interface Place {
  before: string;
  words: string;
  after: string;
}

export interface FoundPage {
  page: TreePage;
  count: number;
  /** The matches on the page. */
  places: Place[];
}

const AT_ONCE = 4;
const SHOWN = 3;
const AROUND = 40;
const PAGES_A_SAVE = 20;

/** Return whether a page may contain the words. In its Markdown, they can be separated by syntax that isn't part of
 * the text. */
function mayHave(markdown: string, { query }: Wanted): boolean {
  const plain = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
  const letters = plain(query);
  return letters === "" || plain(markdown).includes(letters) || /&#?\w+;/.test(markdown);
}

/** Return the end of a text, without a partial word at its start. */
function cut(text: string): string {
  return text.length > AROUND ? `…${text.slice(-AROUND).replace(/^\S*\s/, "")}` : text;
}

/** Search pages, a few at a time. Reports each page with matches and the number of pages searched. */
export async function findInSpace(
  space: string,
  base: Base,
  pages: TreePage[],
  wanted: Wanted,
  progress: { signal: AbortSignal; onfound: (found: FoundPage) => void; onlooked: (count: number) => void },
): Promise<void> {
  let next = 0;
  let looked = 0;
  const look = async (): Promise<void> => {
    while (next < pages.length && !progress.signal.aborted) {
      const page = pages[next++]!;
      if (mayHave(await readMarkdown(space, base, page.id), wanted)) {
        const { document } = await loadPage(space, base, page.id);
        if (progress.signal.aborted) return;
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
        if (matches.length) progress.onfound({ page, count: matches.length, places });
      }
      progress.onlooked(++looked);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, look));
}

/** Replace the words in these pages of a change request. Returns the number of matches and the previous revision. */
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

/** Return the changes of blocks and the number of matches in a page; undefined if there are none. */
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

/** Restore pages from a revision. */
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
