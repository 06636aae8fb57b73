/** The positions of threads in a page, and the target of a comment on a part of the page. */
import type { Node, ResolvedPos } from "prosemirror-model";
import type { About, Remark } from "./base.ts";

const MOST_QUOTED = 300;

/** Return the letters of a text block with their positions. Everything else is omitted. */
function lettersOf(block: Node, start: number): { text: string; at: number[] } {
  let text = "";
  const at: number[] = [];
  block.forEach((child, offset) => {
    if (!child.isText) return;
    for (let number = 0; number < child.text!.length; number++) at.push(start + offset + number);
    text += child.text!;
  });
  return { text, at };
}

function findQuote(node: Node, position: number, quote: string): { from: number; to: number } | undefined {
  let found: { from: number; to: number } | undefined;
  const look = (block: Node, start: number): void => {
    const { text, at } = lettersOf(block, start);
    const first = text.indexOf(quote);
    if (first >= 0) found = { from: at[first]!, to: at[first + quote.length - 1]! + 1 };
  };
  if (node.isTextblock) look(node, position + 1);
  else {
    node.descendants((child, offset) => {
      if (!found && child.isTextblock) look(child, position + 1 + offset + 1);
      return !found;
    });
  }
  return found;
}

export interface RemarkPlace {
  remark: Remark;
  from: number;
  to: number;
  /** Whether the thread is about a whole block, not about text in it. */
  whole: boolean;
}

/** Return the places of threads in the order of the text. */
export function placesOf(doc: Node, remarks: Remark[]): RemarkPlace[] {
  const found: RemarkPlace[] = [];
  if (!remarks.length) return found;
  doc.descendants((node, position) => {
    for (const remark of remarks) {
      if (!node.attrs.key || remark.node !== node.attrs.key) continue;
      const range = remark.quote ? findQuote(node, position, remark.quote) : undefined;
      if (range) found.push({ remark, ...range, whole: false });
      else found.push({ remark, from: position, to: position + node.nodeSize, whole: true });
    }
    return node.isBlock && !node.isTextblock;
  });
  return found.sort((one, other) => one.from - other.from);
}

/** Return the attributes of a place. */
export const markOf = ({ remark, whole }: RemarkPlace, active?: string) => ({
  class: `remark${whole ? " whole" : ""}${remark.id === active ? " active" : ""}`,
  "data-remark": remark.id,
});

/** Return a block as the target of a comment. */
export const aboutBlock = (block: Node): About => ({
  block: block.attrs.key,
  words: shortly(block.textContent),
});

/** Return the content between two positions as the target of a comment: the innermost block with a key, and the text
 * in it. */
export function aboutRange($from: ResolvedPos, $to: ResolvedPos): About | undefined {
  for (let depth = $from.depth; depth > 0; depth--) {
    const block = $from.node(depth);
    if (!block.attrs.key) continue;
    const about = aboutBlock(block);
    if ($from.pos === $to.pos || !$from.parent.isTextblock) return about;
    const { text, at } = lettersOf($from.parent, $from.start());
    const end = Math.min($to.pos, $from.end());
    const before = (position: number): number => at.filter((each) => each < position).length;
    const quote = text.slice(before($from.pos), before(end)).trim();
    return quote && quote.length <= MOST_QUOTED ? { ...about, quote } : about;
  }
  return undefined;
}

function shortly(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79).trimEnd()}…` : text;
}

/** Scroll a part of the page to the middle of the window. */
export function scrollTo(element: Element | null | undefined): void {
  const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element?.scrollIntoView({ block: "center", behavior: quiet ? "auto" : "smooth" });
}
