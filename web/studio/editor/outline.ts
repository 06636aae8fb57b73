/** The headings of a page, for the outline next to it. */
import type { Node } from "prosemirror-model";
import type { Heading } from "./base.ts";

const LEVELS: Record<string, 1 | 2 | 3> = { heading_1: 1, heading_2: 2, heading_3: 3 };

/** Return the anchor of a new heading, in GitHub's format. The server sends those of saved ones. */
export function anchorOf(text: string): string {
  return text.trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "").replace(/\s/g, "-");
}

/** Return the headings of the page itself, as in the reader's outline: not those in hints, tabs, and the like. */
export function headingsOf(view: {
  state: { doc: Node };
  nodeDOM(position: number): globalThis.Node | null | undefined;
}): Heading[] {
  const found: Heading[] = [];
  const visit = (parent: Node, start: number): void => {
    parent.forEach((node, offset) => {
      const level = LEVELS[node.type.name];
      const position = start + offset;
      if (level !== undefined && node.textContent) {
        const saved = (node.attrs.meta as { id?: string } | null)?.id;
        const given: string | null = saved ?? node.attrs.key;
        // Both halves of a split heading have the same id until they are saved.
        const isTaken = found.some(({ id }) => id === given);
        const id = given === null || isTaken ? `:${found.length}` : given;
        const element = view.nodeDOM(position);
        const text = node.textContent;
        const anchor = saved !== undefined && !isTaken ? saved : anchorOf(text);
        if (element instanceof HTMLElement) found.push({ id, level, text, anchor, element });
      } else if (
        node.type.name === "stepper" || node.type.name === "stepper_step" || node.type.name === "columns" ||
        node.type.name === "column"
      ) {
        visit(node, position + 1);
      }
    });
  };
  visit(view.state.doc, 0);
  return found;
}

// In scripts without spaces between words, each character counts, as in word processors.
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}\p{M}]+(?:['’.-][\p{L}\p{N}\p{M}]+)*/gu;

/** Return the text of a page with spaces between blocks. For a long page, return the start, with at least `most`
 * characters. */
export function textOf(doc: Node, most = Infinity): string {
  let text = "";
  doc.descendants((node) => {
    if (text.length >= most) return false;
    text += node.text ?? (node.isTextblock || node.isInline ? " " : "");
    return true;
  });
  return text;
}

/** Return the number of words of a page, including code. */
export function countWords(doc: Node): number {
  let found = 0;
  for (const _ of textOf(doc).matchAll(WORD)) found++;
  return found;
}

const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT =
  /\p{Script=Arabic}|\p{Script=Hebrew}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}/u;

/** Return the direction of a text from its first letter; undefined if it has none. */
export function directionOf(text: string): "rtl" | "ltr" | undefined {
  const first = LETTER.exec(text)?.[0];
  return first === undefined ? undefined : RIGHT_TO_LEFT.test(first) ? "rtl" : "ltr";
}
