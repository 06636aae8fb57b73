/** What typing Markdown does at once: `## ` makes a heading, `**words**` bold words. */
import { InputRule, inputRules } from "prosemirror-inputrules";
import type { Attrs, MarkType, NodeType } from "prosemirror-model";
import { type Plugin, TextSelection } from "prosemirror-state";
import { canJoin, findWrapping } from "prosemirror-transform";
import { emojiCode, safeUrl } from "../document/drawing.ts";
import { schema, uid } from "../document/schema.ts";
import { holds, intoBlock } from "./blocks.ts";
import { emojiNamed } from "./emoji.ts";
import { newTable } from "./tablecommands.ts";

const { nodes, marks } = schema;

/** Only in a paragraph: what is a heading or code already stays that. */
function atStart(
  pattern: RegExp,
  make: (match: RegExpMatchArray) => { type: NodeType; attrs?: Attrs },
): InputRule {
  return new InputRule(pattern, (state, match, start, end) => {
    const place = state.doc.resolve(start);
    if (place.parent.type !== nodes.paragraph && !place.parent.type.name.startsWith("heading")) return null;
    const { type, attrs } = make(match);
    if (!place.node(-1).canReplaceWith(place.index(-1), place.indexAfter(-1), type)) return null;
    return state.tr.delete(start, end).setBlockType(start, start, type, {
      ...attrs,
      key: place.parent.attrs.key,
    });
  });
}

function wrapping(
  pattern: RegExp,
  list: NodeType,
  make: (match: RegExpMatchArray) => { attrs?: Attrs; item?: Attrs } = () => ({}),
): InputRule {
  return new InputRule(pattern, (state, match, start, end) => {
    if (state.doc.resolve(start).parent.type !== nodes.paragraph) return null;
    const transaction = state.tr.delete(start, end);
    const range = transaction.doc.resolve(start).blockRange();
    const { attrs, item } = make(match);
    const found = range && findWrapping(range, list, attrs);
    if (!range || !found) return null;
    transaction.wrap(
      range,
      found.map((each) => (each.type === nodes.list_item && item ? { type: each.type, attrs: item } : each)),
    );
    const before = transaction.doc.resolve(start - 1).nodeBefore;
    if (before?.type === list && canJoin(transaction.doc, start - 1) && list !== nodes.blockquote) {
      transaction.join(start - 1);
    }
    return transaction;
  });
}

/** A block in the place of the paragraph that holds nothing but its sign. */
function replacing(
  pattern: RegExp,
  make: (match: RegExpMatchArray) => Parameters<typeof intoBlock>[2],
): InputRule {
  return new InputRule(pattern, (state, match, start, end) => {
    const place = state.doc.resolve(start);
    if (place.parent.type !== nodes.paragraph || end !== place.end() || start !== place.start()) return null;
    const node = make(match);
    if (!holds(place, place.depth - 1, node.type, place.index(-1), place.indexAfter(-1))) return null;
    const at = place.before();
    const transaction = state.tr.replaceWith(
      at,
      place.after(),
      node.isTextblock || node.content.size ? node : [node, nodes.paragraph!.create()],
    );
    if (!node.content.size) {
      return transaction.setSelection(TextSelection.near(transaction.doc.resolve(at + node.nodeSize)));
    }
    return intoBlock(transaction, at, node);
  });
}

function marking(pattern: RegExp, type: MarkType): InputRule {
  return new InputRule(pattern, (state, match, start, end) => {
    const words = match[2]!;
    const place = state.doc.resolve(start);
    if (place.parent.type === nodes.code_line || place.marks().some((mark) => mark.type === marks.code)) {
      return null;
    }
    const lead = match[1]!.length;
    const from = start + lead;
    const whole = match[0].slice(lead);
    const at = whole.indexOf(words);
    const transaction = state.tr;
    // The last sign is not in the page yet.
    const close = from + at + words.length;
    if (close < end) transaction.delete(close, end);
    transaction.delete(from, from + at);
    transaction.addMark(from, from + words.length, type.create());
    return transaction.removeStoredMark(type);
  });
}

const link = new InputRule(/\[([^\]]+)\]\(([^()\s]+)\)$/, (state, match, start, end) => {
  const url = safeUrl(match[2]);
  if (url === undefined || state.doc.resolve(start).parent.type === nodes.code_line) return null;
  const words = match[1]!;
  const mark = marks.link!.create({ uid: uid(), data: { ref: { kind: "url", url } } });
  const transaction = state.tr.delete(start + 1 + words.length, end).delete(start, start + 1);
  return transaction.addMark(start, start + words.length, mark).removeStoredMark(mark);
});

const emoji = new InputRule(/(?:^|\s):([a-z0-9_+-]{2,}):$/, (state, match, start, end) => {
  const sign = emojiNamed(match[1]!);
  if (sign === undefined || state.doc.resolve(start).parent.type === nodes.code_line) return null;
  const from = end - match[1]!.length - 1;
  return state.tr.replaceWith(from, end, nodes.emoji!.create({ data: { code: emojiCode(sign) } }));
});

const math = new InputRule(/(^|[^$\\])\$([^$\s](?:[^$]*[^$\s])?)\$$/, (state, match, start, end) => {
  // Sums of money are no formulas.
  if (state.doc.resolve(start).parent.type === nodes.code_line || /^\d/.test(match[2]!)) return null;
  return state.tr.replaceWith(
    start + match[1]!.length,
    end,
    nodes.inline_math!.create({ data: { formula: match[2]! } }),
  );
});

const expression = new InputRule(
  /\{\{\s*((?:space|page|visitor)\b[^{}]*?)\s*\}\}$/,
  (state, match, start, end) => {
    if (state.doc.resolve(start).parent.type === nodes.code_line) return null;
    return state.tr.replaceWith(start, end, nodes.expression!.create({ data: { expression: match[1]! } }));
  },
);

export function code(syntax: string) {
  return nodes.code_block!.create(syntax ? { data: { syntax } } : null, nodes.code_line!.create());
}

/** `##` is what the file has for the first of three headings in a page, whose title is `#`. */
export function typingRules(): Plugin {
  return inputRules({
    rules: [
      atStart(/^(#{1,6})\s$/, (match) => {
        const signs = match[1]!.length;
        const rank = Math.min(Math.max(signs - 1, 1), 3);
        return { type: nodes[`heading_${rank}`]!, attrs: signs > 4 ? { data: { level: signs } } : {} };
      }),
      wrapping(
        /^\[( ?|x|X)\]\s$/,
        nodes.list_tasks!,
        (match) => ({ item: { data: { checked: match[1]!.toLowerCase() === "x" } } }),
      ),
      wrapping(/^[-*+]\s$/, nodes.list_unordered!),
      wrapping(
        /^(\d{1,9})[.)]\s$/,
        nodes.list_ordered!,
        (match) => ({ attrs: match[1] === "1" ? {} : { data: { start: Number(match[1]) } } }),
      ),
      wrapping(/^>\s$/, nodes.blockquote!),
      replacing(/^```([\w+#-]*)\s$/, (match) => code(match[1]!)),
      replacing(/^(?:---|___|\*\*\*)$/, () => nodes.divider!.create()),
      replacing(/^\|\|\|$/, () => newTable(3, 2)),
      replacing(/^\$\$\s$/, () => nodes.math!.create({ data: { formula: "" } })),
      taskInList,
      marking(/()\*\*([^*\s](?:[^*]*[^*\s])?)\*\*$/, marks.bold!),
      marking(/()(?<!_)__([^_\s](?:[^_]*[^_\s])?)__$/, marks.bold!),
      marking(/(^|[^*])\*([^*\s](?:[^*]*[^*\s])?)\*$/, marks.italic!),
      marking(/(^|[^\w_])_([^_\s](?:[^_]*[^_\s])?)_$/, marks.italic!),
      marking(/()~~([^~\s](?:[^~]*[^~\s])?)~~$/, marks.strikethrough!),
      marking(/(^|[^`])`([^`]+)`$/, marks.code!),
      link,
      emoji,
      math,
      expression,
    ],
  });
}

/** `[ ] ` at the beginning of an item of a list makes it one of tasks, as in Markdown. */
const taskInList = new InputRule(/^\[( ?|x|X)\]\s$/, (state, match, start, end) => {
  const place = state.doc.resolve(start);
  const list = place.depth > 2 ? place.node(-2) : null;
  if (
    list === null || place.node(-1).type !== nodes.list_item || list.type !== nodes.list_unordered ||
    place.index(-1) !== 0
  ) return null;
  const transaction = state.tr.delete(start, end);
  const at = place.before(-2);
  transaction.setNodeMarkup(at, nodes.list_tasks, list.attrs);
  let position = at + 1;
  list.forEach((item, _, number) => {
    const checked = number === place.index(-2) && match[1]!.toLowerCase() === "x";
    transaction.setNodeAttribute(transaction.mapping.map(position), "data", { ...item.attrs.data, checked });
    position += item.nodeSize;
  });
  return transaction;
});
