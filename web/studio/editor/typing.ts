/** Markdown shortcuts: `## ` creates a heading, `**words**` creates bold text. */
import { InputRule, inputRules } from "prosemirror-inputrules";
import { closeHistory } from "prosemirror-history";
import type { Attrs, MarkType, NodeType } from "prosemirror-model";
import { type EditorState, Plugin, TextSelection, type Transaction } from "prosemirror-state";
import { canJoin, findWrapping } from "prosemirror-transform";
import { safeUrl } from "../document/drawing.ts";
import { emojiCode } from "../document/richdrawing.ts";
import { uid } from "../document/building.ts";
import { schema } from "../document/schema.ts";
import { holds, intoBlock } from "./blocks.ts";
import { emojiNamed } from "./emoji.ts";
import { newTable } from "./tablecommands.ts";

const { nodes, marks } = schema;

/** Return a rule that applies only in a paragraph: existing headings and code stay unchanged. */
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

/** Return a rule that replaces a paragraph that contains only a block's sign with the block. */
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
  return new InputRule(pattern, (state, match, start, end) => marked(state, match, start, end, type));
}

/** Return a rule that marks the text between signs (the second group, after the first one) and removes the signs. */
function marked(
  state: EditorState,
  match: RegExpMatchArray,
  start: number,
  end: number,
  type: MarkType,
): Transaction | null {
  const words = match[2]!;
  const lead = match[1]!.length;
  const from = start + lead;
  const at = match[0].slice(lead).indexOf(words);
  if (isCode(state, from, end, type)) return null;
  const transaction = state.tr;
  // The last character may not be in the page yet.
  const close = from + at + words.length;
  if (close < end) transaction.delete(close, end);
  transaction.delete(from, from + at);
  transaction.addMark(from, from + words.length, type.create());
  return transaction.removeStoredMark(type);
}

/** Return whether one of the signs around some text is code, or, if the text becomes code, whether any of it is. */
function isCode(state: EditorState, from: number, end: number, type: MarkType): boolean {
  const code = marks.code!;
  const place = state.doc.resolve(end);
  return place.parent.type === nodes.code_line ||
    code.isInSet(state.storedMarks ?? place.marks()) !== undefined ||
    code.isInSet(state.doc.nodeAt(from)?.marks ?? []) !== undefined ||
    (type === code && state.doc.rangeHasMark(from, end, code));
}

/** A URL in parentheses. It can contain pairs of parentheses. */
const IN_PARENTHESES = String.raw`\(((?:[^()\s]|\([^()\s]*\))+)\)$`;

const image = new InputRule(
  new RegExp(String.raw`!\[([^\]]*)\]${IN_PARENTHESES}`),
  (state, match, start, end) => {
    const url = safeUrl(match[2]);
    if (url === undefined || !/^https?:/i.test(url) || isCode(state, start, end, marks.code!)) return null;
    const alt = match[1]!;
    const data = { ref: { kind: "url", url }, ...(alt ? { alt } : {}) };
    return state.tr.replaceWith(start, end, nodes.inline_image!.create({ data }));
  },
);

const link = new InputRule(
  new RegExp(String.raw`\[([^\]]+)\]${IN_PARENTHESES}`),
  (state, match, start, end) => {
    const url = safeUrl(match[2]);
    if (url === undefined || state.doc.resolve(start).parent.type === nodes.code_line) return null;
    const words = match[1]!;
    const mark = marks.link!.create({ uid: uid(), data: { ref: { kind: "url", url } } });
    const transaction = state.tr.delete(start + 1 + words.length, end).delete(start, start + 1);
    return transaction.addMark(start, start + words.length, mark).removeStoredMark(mark);
  },
);

const emoji = new InputRule(/(?:^|\s):([a-z0-9_+-]{2,}):$/, (state, match, start, end) => {
  const sign = emojiNamed(match[1]!);
  if (sign === undefined || state.doc.resolve(start).parent.type === nodes.code_line) return null;
  const from = end - match[1]!.length - 1;
  return state.tr.replaceWith(from, end, nodes.emoji!.create({ data: { code: emojiCode(sign) } }));
});

const math = new InputRule(/(^|[^$\\])\$([^$\s](?:[^$]*[^$\s])?)\$$/, (state, match, start, end) => {
  // Amounts of money aren't formulas.
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

/** Return a rule that replaces signs in prose with the character that they stand for. The first group is the text
 * before them, the last one the text after them. */
function sign(pattern: RegExp, character: string): InputRule {
  return new InputRule(pattern, (state, match, start, end) => {
    const { parent, parentOffset } = state.doc.resolve(start);
    const before = parent.textBetween(0, parentOffset, null, "\ufffc");
    // After a backtick, the text may become code.
    if (isCode(state, start, end, marks.code!) || before.split("`").length % 2 === 0) return null;
    const from = start + match[1]!.length;
    return state.tr.insertText(character + (match[2] ?? ""), from, end);
  });
}

/** Arrows and dashes need a space before them, and dashes one after them, because `a->b`, `--option`, and `1...10` are
 * code. */
const SIGNS = [
  sign(/(^|\s)->$/, "→"),
  sign(/(^|\s)<-(\s)$/, "←"),
  sign(/(^|\s)<->$/, "↔"),
  sign(/(\S\s)--(\s)$/, "—"),
  sign(/([\p{L})"”’])\.\.\.$/u, "…"),
];

export function code(syntax: string) {
  return nodes.code_block!.create(syntax ? { data: { syntax } } : null, nodes.code_line!.create());
}

/** Return the plugin of the typing rules. Files write the first of three heading levels as `##`, because the page's
 * title is `#`. */
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
      ...SIGNS,
      marking(/()\*\*([^*\s](?:[^*]*[^*\s])?)\*\*$/, marks.bold!),
      marking(/(^|[^*])\*([^*\s](?:[^*]*[^*\s])?)\*$/, marks.italic!),
      marking(/()~~([^~\s](?:[^~]*[^~\s])?)~~$/, marks.strikethrough!),
      marking(/(^|[^`])`([^`\s](?:[^`]*[^`\s])?)`$/, marks.code!),
      image,
      link,
      emoji,
      math,
      expression,
    ],
  });
}

type Finish = (state: EditorState, match: RegExpMatchArray, start: number, end: number) => Transaction | null;

/** A URL, which ends at a space. */
const ADDRESS: [RegExp, Finish] = [
  /(^|[\s(])(https?:\/\/[^\s<>"\ufffc]+)$/i,
  (state, match, start, end) => {
    const url = safeUrl(withoutEnd(match[2]!));
    const from = start + match[1]!.length;
    if (
      url === undefined || !/^https?:\/\/[\p{L}\p{N}[]/iu.test(url) ||
      state.doc.rangeHasMark(from, end, marks.link!) || isCode(state, from, end, marks.code!)
    ) return null;
    const mark = marks.link!.create({ uid: uid(), data: { ref: { kind: "url", url } } });
    return state.tr.addMark(from, from + url.length, mark).removeStoredMark(mark);
  },
];
/** Text between underscores. Names can contain underscores: an underscore followed by a letter is part of a name. */
const EMPHASIS: [RegExp, Finish][] = [
  [/(^|[^\p{L}\p{N}_])__([^_\s](?:[^_]*[^_\s])?)__$/u, (...found) => marked(...found, marks.bold!)],
  [/(^|[^\p{L}\p{N}_])_([^_\s](?:[^_]*[^_\s])?)_$/u, (...found) => marked(...found, marks.italic!)],
];
/** The number of letters before the caret that are searched. */
const LONGEST = 2000;

/** Return a URL without the punctuation that ends the sentence. */
function withoutEnd(url: string): string {
  let end = url.length;
  while (end > 0) {
    const last = url[end - 1]!;
    const opening = { ")": "(", "]": "[" }[last];
    const opened = opening === undefined ? 0 : url.slice(0, end).split(opening).length;
    if (opening === undefined ? !/[.,;:!?'*~]/.test(last) : opened >= url.slice(0, end).split(last).length) {
      break;
    }
    end--;
  }
  return url.slice(0, end);
}

/** Apply the shortcuts that are completed by the next letter or the end of the line. */
export function finishing(): Plugin {
  const finished = (state: EditorState, next: string): Transaction | null => {
    const { $cursor } = state.selection as TextSelection;
    if (!$cursor || $cursor.parent.type === nodes.code_line || !$cursor.parent.inlineContent) return null;
    if (!$cursor.parent.type.allowsMarkType(marks.link!)) return null;
    const text = $cursor.parent.textBetween(
      Math.max(0, $cursor.parentOffset - LONGEST),
      $cursor.parentOffset,
      null,
      "\ufffc",
    );
    const rules = !/:\/\/\S*$/.test(text) ? EMPHASIS : /^\s/.test(next) ? [ADDRESS] : [];
    for (const [pattern, finish] of rules) {
      const match = pattern.exec(text);
      const found = match && finish(state, match, $cursor.pos - match[0].length, $cursor.pos);
      if (found) return closeHistory(found);
    }
    return null;
  };
  return new Plugin({
    props: {
      handleTextInput(view, from, to, text) {
        if (view.composing || from !== to || !/^[^\p{L}\p{N}_]/u.test(text)) return false;
        const transaction = finished(view.state, text);
        if (transaction === null) return false;
        view.dispatch(transaction.insertText(text).scrollIntoView());
        return true;
      },
      handleKeyDown(view, event) {
        if (event.key !== "Enter" || event.isComposing) return false;
        const transaction = finished(view.state, "\n");
        if (transaction !== null) view.dispatch(transaction);
        return false;
      },
    },
  });
}

/** `[ ] ` at the start of a list item makes it a task, as in Markdown. */
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
