/** The key bindings and plugins that make a page editable. */
import {
  chainCommands,
  createParagraphNear,
  deleteSelection,
  exitCode,
  joinTextblockBackward,
  joinTextblockForward,
  liftEmptyBlock,
  newlineInCode,
  selectAll,
  selectNodeBackward,
  selectNodeForward,
  splitBlockKeepMarks,
  toggleMark,
} from "prosemirror-commands";
import { baseKeymap } from "prosemirror-commands";
import { dropCursor } from "prosemirror-dropcursor";
import { gapCursor } from "prosemirror-gapcursor";
import { history, redo, undo } from "prosemirror-history";
import { undoInputRule } from "prosemirror-inputrules";
import { keymap } from "prosemirror-keymap";
import type { Node, NodeType, ResolvedPos } from "prosemirror-model";
import { liftListItem, sinkListItem, splitListItem } from "prosemirror-schema-list";
import {
  type Command,
  type EditorState,
  NodeSelection,
  Plugin,
  Selection,
  TextSelection,
} from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { schema } from "../document/schema.ts";
import { deleteBlock, duplicateBlock, holds, intoBlock, selectBlock, turnInto } from "./blocks.ts";
import { uniqueKeys } from "./keys.ts";
import { resizeImage, writeCaption } from "./resizing.ts";
import { moveChosenRows, selectCells } from "./cells.ts";
import { moveOrLeave } from "./columns.ts";
import { cellPosition } from "./grid.ts";
import { addRow, goToCell, newTable, spotOf } from "./tablecommands.ts";
import { code, finishing, typingRules } from "./typing.ts";
import { reveal } from "./richviews.ts";
import { words } from "./words.ts";

const { nodes, marks } = schema;

function inCode(state: EditorState): boolean {
  return state.selection.$head.parent.type === nodes.code_line;
}

/** Return a command that toggles a mark, except in code. */
function mark(name: string): Command {
  const toggle = toggleMark(marks[name]!, null, { includeWhitespace: true });
  return (state, dispatch, view) => !inCode(state) && toggle(state, dispatch, view);
}

/** Return the paragraph of the caret if a block of this type can replace it. */
function replaceable(state: EditorState, type: NodeType): ResolvedPos | undefined {
  const { $head, empty } = state.selection;
  if (!empty || $head.parent.type !== nodes.paragraph) return undefined;
  return holds($head, $head.depth - 1, type, $head.index(-1), $head.indexAfter(-1)) ? $head : undefined;
}

/** Start a code block when Enter is pressed after a code fence. */
const beginCode: Command = (state, dispatch) => {
  const $head = replaceable(state, nodes.code_block!);
  const match = $head && /^```([\w+#-]*)$/.exec($head.parent.textContent);
  if (!$head || !match) return false;
  const at = $head.before();
  const transaction = state.tr.replaceWith(at, $head.after(), code(match[1]!));
  dispatch?.(transaction.setSelection(TextSelection.create(transaction.doc, at + 2)).scrollIntoView());
  return true;
};

/** Create a table with these column titles when Enter is pressed after `| Name | Price |`. */
const beginTable: Command = (state, dispatch) => {
  const $head = replaceable(state, nodes.table!);
  const row = $head && /^\|([^|]+\|){2,}$/.exec($head.parent.textContent.trim());
  if (!$head || !row) return false;
  const titles = row[0].split("|").slice(1, -1).map((title) => title.trim());
  const table = newTable(titles.length, 1, titles);
  const at = $head.before();
  const transaction = state.tr.replaceWith(at, $head.after(), table);
  const cell = cellPosition(table, at, 1, 0);
  dispatch?.(transaction.setSelection(TextSelection.near(transaction.doc.resolve(cell))).scrollIntoView());
  return true;
};

const ALERTS: Record<string, string> = {
  NOTE: "info",
  TIP: "success",
  IMPORTANT: "info",
  WARNING: "warning",
  CAUTION: "danger",
};

/** Create a hint when Enter is pressed after `> [!WARNING]`, as in GitHub alerts. */
const beginHint: Command = (state, dispatch) => {
  const { $head, empty } = state.selection;
  const quote = $head.node(-1);
  if (!empty || $head.parent.type !== nodes.paragraph || quote?.type !== nodes.blockquote) return false;
  const match = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]$/i.exec($head.parent.textContent.trim());
  if (!match || quote.childCount > 1) return false;
  if (!holds($head, $head.depth - 2, nodes.hint!, $head.index(-2), $head.indexAfter(-2))) return false;
  const hint = nodes.hint!.create(
    { data: { style: ALERTS[match[1]!.toUpperCase()] } },
    nodes.paragraph!.create(),
  );
  const at = $head.before(-1);
  dispatch?.(intoBlock(state.tr.replaceWith(at, $head.after(-1), hint), at, hint));
  return true;
};

/** Start the next line of code with the same indentation. After two empty lines at the end, leave the code block. */
const newLine: Command = (state, dispatch) => {
  if (!inCode(state)) return false;
  const { $from, $to } = state.selection;
  const block = $from.node(-1);
  const last = $from.index(-1) === block.childCount - 1;
  if (
    state.selection.empty && last && block.childCount > 2 && !$from.parent.content.size &&
    !block.child(block.childCount - 2).content.size
  ) {
    const from = $from.before() - block.child(block.childCount - 2).nodeSize;
    const transaction = state.tr.delete(from, $from.after());
    const at = transaction.mapping.map($from.after(-1));
    transaction.insert(at, nodes.paragraph!.create());
    dispatch?.(transaction.setSelection(TextSelection.create(transaction.doc, at + 1)).scrollIntoView());
    return true;
  }
  if ($from.node(-1) !== $to.node(-1)) return false;
  const indent = /^[ \t]*/.exec($from.parent.textBetween(0, $from.parentOffset))![0];
  const transaction = state.tr.deleteSelection();
  transaction.split(transaction.selection.from, 1, [{ type: nodes.code_line! }]);
  if (indent) transaction.insertText(indent);
  dispatch?.(transaction.scrollIntoView());
  return true;
};

/** Indent or outdent lines of code by two spaces. */
function indentCode(more: boolean): Command {
  return (state, dispatch) => {
    if (!inCode(state)) return false;
    const { $from, $to, empty } = state.selection;
    if ($from.node(-1) !== $to.node(-1)) return false;
    if (more && empty) {
      dispatch?.(state.tr.insertText("  ").scrollIntoView());
      return true;
    }
    const transaction = state.tr;
    state.doc.nodesBetween($from.before(), $to.after(), (node, position) => {
      if (node.type !== nodes.code_line) return true;
      const at = transaction.mapping.map(position + 1);
      if (more) transaction.insertText("  ", at);
      else {
        const blanks = /^(?: {1,2}|\t)/.exec(node.textContent)?.[0].length ?? 0;
        if (blanks) transaction.delete(at, at + blanks);
      }
      return false;
    });
    dispatch?.(transaction);
    return true;
  };
}

/** Handle Backspace at the start of a block: remove an empty code block, turn a heading into text, or move an item
 * out of its list. */
const backspace: Command = (state, dispatch, view) => {
  const { $head, empty } = state.selection;
  if (!empty || (view ? !view.endOfTextblock("backward", state) : $head.parentOffset > 0)) return false;
  const { parent } = $head;
  if (parent.type === nodes.code_line) {
    if ($head.index(-1) > 0) return false;
    if (!$head.node(-1).textContent) return turnInto("paragraph")(state, dispatch);
    return true;
  }
  if (parent.type.name.startsWith("heading_")) return turnInto("paragraph")(state, dispatch);
  if ($head.node(-1)?.type === nodes.list_item && $head.index(-1) === 0) {
    return liftListItem(nodes.list_item!)(state, dispatch, view);
  }
  const wrapper = $head.depth > 1 ? $head.node(-1) : null;
  if (
    (wrapper?.type === nodes.blockquote || wrapper?.type === nodes.hint) && $head.index(-1) === 0 &&
    parent.type === nodes.paragraph
  ) {
    const range = $head.blockRange();
    if (range === null) return false;
    dispatch?.(state.tr.lift(range, range.depth - 1).scrollIntoView());
    return true;
  }
  return false;
};

/** Move from a title or caption to the next block when Enter is pressed. */
const leaveTitle: Command = (state, dispatch) => {
  const { $head } = state.selection;
  for (let depth = $head.depth; depth > 0; depth--) {
    const name = $head.node(depth).type.name;
    if (name === "expandable_title") {
      dispatch?.(
        state.tr.setSelection(Selection.near(state.doc.resolve($head.after(depth)), 1)).scrollIntoView(),
      );
      return true;
    }
    if (name === "caption") {
      const around = $head.node(depth - 1).type === nodes.image ? depth - 2 : depth - 1;
      return paragraphAfter(state, $head.after(around), dispatch);
    }
    if (name === "table_heading") return goToRow(1)(state, dispatch);
  }
  return false;
};

function paragraphAfter(
  state: EditorState,
  at: number,
  dispatch?: (transaction: EditorState["tr"]) => void,
): boolean {
  const transaction = state.tr.insert(at, nodes.paragraph!.create());
  dispatch?.(transaction.setSelection(TextSelection.create(transaction.doc, at + 1)).scrollIntoView());
  return true;
}

/** Move down in the same column of a table. */
function goToRow(by: number): Command {
  return (state, dispatch) => {
    const spot = spotOf(state);
    if (spot === undefined) return false;
    const row = spot.row + by;
    if (row < 0 || row >= spot.table.childCount) return false;
    let at = spot.position + 1;
    for (let number = 0; number < row; number++) at += spot.table.child(number).nodeSize;
    at++;
    for (let number = 0; number < spot.column; number++) at += spot.table.child(row).child(number).nodeSize;
    dispatch?.(state.tr.setSelection(Selection.near(state.doc.resolve(at + 1))).scrollIntoView());
    return true;
  };
}

/** Return whether a block is a diagram, whose source is shown only while the caret is in it. */
function isDiagram({ type, attrs }: Node): boolean {
  return type === nodes.code_block && String(attrs.data.syntax ?? "").toLowerCase() === "mermaid";
}

/** Move from a selected diagram into its source. */
const writeSource: Command = (state, dispatch) => {
  const { selection } = state;
  if (!(selection instanceof NodeSelection) || !isDiagram(selection.node)) return false;
  dispatch?.(state.tr.setSelection(TextSelection.create(state.doc, selection.from + 2)).scrollIntoView());
  return true;
};

/** Select a diagram next to the caret. The browser can't move into its source, which isn't shown. */
function selectDiagram(by: -1 | 1): Command {
  return (state, dispatch, view) => {
    const { $head, empty } = state.selection;
    if (!empty || !$head.parent.isTextblock || !view?.endOfTextblock(by < 0 ? "up" : "down", state)) {
      return false;
    }
    const at = by < 0 ? $head.before() : $head.after();
    const place = state.doc.resolve(at);
    const beside = by < 0 ? place.nodeBefore : place.nodeAfter;
    if (!beside || !isDiagram(beside)) return false;
    dispatch?.(state.tr.setSelection(NodeSelection.create(state.doc, by < 0 ? at - beside.nodeSize : at)));
    view.focus();
    return true;
  };
}

/** Insert a paragraph below a block that is selected as a whole. */
const writeBelow: Command = (state, dispatch) => {
  const { selection } = state;
  if (!(selection instanceof NodeSelection) || !selection.node.isBlock) return false;
  const place = selection.$from;
  if (!place.parent.canReplaceWith(place.indexAfter(), place.indexAfter(), nodes.paragraph!)) return false;
  return paragraphAfter(state, selection.to, dispatch);
};

/** Leave an empty last step, tab, or column when Enter is pressed, as in a list. */
const hardBreak: Command = (state, dispatch) => {
  if (inCode(state) || state.selection.$head.parent.type === nodes.table_heading) return false;
  dispatch?.(state.tr.replaceSelectionWith(nodes.hard_break!.create()).scrollIntoView());
  return true;
};

/** Add a paragraph when Arrow down is pressed at the end of a page whose last block is selected or isn't a paragraph. */
const writeAtEnd: Command = (state, dispatch, view) => {
  const { $head, $from, to } = state.selection;
  const end = state.doc.content.size;
  if (state.selection instanceof NodeSelection && end - to <= $from.depth) {
    return paragraphAfter(state, end, dispatch);
  }
  if (view && !view.endOfTextblock("down", state)) return false;
  const last = state.doc.lastChild!;
  if ($head.depth === 0 || $head.index(0) !== state.doc.childCount - 1 || last.type === nodes.paragraph) {
    return false;
  }
  // Only from the last line of the last block.
  if ($head.after($head.depth) + $head.depth - 1 < state.doc.content.size) return false;
  return paragraphAfter(state, state.doc.content.size, dispatch);
};

const item = nodes.list_item!;

/** Add the next list item; a new task is unchecked. */
/** Check or uncheck the task of the caret. */
const toggleTask: Command = ({ selection: { $from }, tr }, dispatch) => {
  for (let depth = $from.depth; depth > 0; depth--) {
    const { checked, ...data } = ($from.node(depth).attrs.data ?? {}) as Record<string, unknown>;
    if (typeof checked !== "boolean") continue;
    dispatch?.(tr.setNodeAttribute($from.before(depth), "data", { ...data, checked: !checked }));
    return true;
  }
  return false;
};

/** Extend the selection of a block to the previous or next block. */
function selectNext(by: -1 | 1): Command {
  return ({ selection, doc, tr }, dispatch) => {
    if (!(selection instanceof NodeSelection) || !selection.node.isBlock) return false;
    const { $from, $to } = selection;
    const next = Selection.findFrom(by < 0 ? $from : $to, by, true);
    if (!next) return false;
    const own = by < 0 ? Selection.findFrom($to, -1, true) : Selection.findFrom($from, 1, true);
    if (!own) return false;
    const head = next.$from;
    const edge = doc.resolve(by < 0 ? head.start() : head.end());
    dispatch?.(tr.setSelection(TextSelection.between(by < 0 ? own.$to : own.$from, edge)).scrollIntoView());
    return true;
  };
}

const nextItem: Command = (state, dispatch, view) => {
  const { $from } = state.selection;
  const around = $from.depth > 1 ? $from.node(-1) : null;
  const data = typeof around?.attrs.data?.checked === "boolean" ? { checked: false } : {};
  return splitListItem(item, { data })(state, dispatch, view);
};

export interface Keys {
  save: () => void;
  link: (view: EditorView) => void;
  find: (view: EditorView) => void;
  comment: (view: EditorView) => void;
  menu: (view: EditorView) => void;
}

function bindings({ save, link, find, comment, menu }: Keys): Record<string, Command> {
  const found: Record<string, Command> = {
    "Mod-b": mark("bold"),
    "Mod-i": mark("italic"),
    "Mod-e": mark("code"),
    "Mod-Shift-x": mark("strikethrough"),
    "Mod-Shift-.": mark("superscript"),
    "Mod-Shift-,": mark("subscript"),
    // While a block is selected, it opens the search of the app.
    "Mod-k": ({ selection }, _, view) => !(selection instanceof NodeSelection) && (view && link(view), true),
    "Mod-f": (_, __, view) => (view && find(view), true),
    "Mod-s": () => (save(), true),
    "Mod-Alt-m": (_, __, view) => (view && comment(view), true),
    "Mod-/": (_, __, view) => (view && menu(view), true),
    "Mod-z": chainCommands(undoInputRule, undo),
    "Mod-y": redo,
    "Shift-Mod-z": redo,
    "Mod-Alt-0": turnInto("paragraph"),
    "Mod-Alt-1": turnInto("heading_1"),
    "Mod-Alt-2": turnInto("heading_2"),
    "Mod-Alt-3": turnInto("heading_3"),
    "Mod-Shift-7": turnInto("list_ordered"),
    "Mod-Shift-8": turnInto("list_unordered"),
    "Mod-Shift-9": turnInto("list_tasks"),
    "Mod-Alt-c": turnInto("code_block"),
    "Mod-d": duplicateBlock,
    "Mod-a": selectMore,
    "Mod-Home": goToEdge(Selection.atStart, false),
    "Shift-Mod-Home": goToEdge(Selection.atStart, true),
    "Meta-ArrowUp": goToEdge(Selection.atStart, false),
    "Shift-Meta-ArrowUp": goToEdge(Selection.atStart, true),
    "Mod-End": goToEdge(Selection.atEnd, false),
    "Shift-Mod-End": goToEdge(Selection.atEnd, true),
    "Meta-ArrowDown": goToEdge(Selection.atEnd, false),
    "Shift-Meta-ArrowDown": goToEdge(Selection.atEnd, true),
    Escape: selectBlock,
    "Shift-ArrowUp": selectNext(-1),
    "Shift-ArrowDown": selectNext(1),
    "Alt-ArrowUp": chainCommands(moveChosenRows(-1), moveOrLeave(-1)),
    "Alt-ArrowDown": chainCommands(moveChosenRows(1), moveOrLeave(1)),
    "Alt-ArrowLeft": resizeImage(-1),
    "Alt-ArrowRight": resizeImage(1),
    Enter: chainCommands(
      beginCode,
      beginTable,
      beginHint,
      newLine,
      leaveTitle,
      writeCaption,
      writeSource,
      writeBelow,
      nextItem,
      newlineInCode,
      createParagraphNear,
      liftEmptyBlock,
      splitBlockKeepMarks,
    ),
    "Mod-Enter": chainCommands(leaveCode, addRow(true), toggleTask, exitCode),
    "Shift-Enter": chainCommands(newLine, hardBreak),
    Tab: chainCommands(goToCell(1), indentCode(true), sinkListItem(item), stay),
    "Shift-Tab": chainCommands(goToCell(-1), indentCode(false), liftListItem(item), stay),
    Backspace: chainCommands(
      undoInputRule,
      deleteChosen,
      deleteSelection,
      backspace,
      joinTextblockBackward,
      selectNodeBackward,
    ),
    Delete: chainCommands(deleteChosen, deleteSelection, joinTextblockForward, selectNodeForward),
    ArrowUp: selectDiagram(-1),
    ArrowDown: chainCommands(selectDiagram(1), writeAtEnd),
  };
  return found;
}

/** Ignore Tab, so that the focus stays in the page while typing. To leave by keyboard, select the block first. */
const stay: Command = (state) =>
  state.selection instanceof TextSelection && state.selection.$head.node(-1)?.type === item;

const deleteChosen: Command = (state, dispatch) =>
  state.selection instanceof NodeSelection && state.selection.node.isBlock && deleteBlock(state, dispatch);

const leaveCode: Command = (state, dispatch) =>
  inCode(state) && paragraphAfter(state, state.selection.$head.after(-1), dispatch);

/** Select the block; when repeated, select the cells of its table, and then the page. */
const selectMore: Command = (state, dispatch, view) => {
  const { $from, $to } = state.selection;
  if (!(state.selection instanceof TextSelection)) {
    return selectCells(state, dispatch) || selectAll(state, dispatch, view);
  }
  const depth = $from.parent.type === nodes.code_line ? $from.depth - 1 : $from.depth;
  const [from, to] = [$from.start(depth), $from.end(depth)];
  if ($to.pos <= to && ($from.pos > from || $to.pos < to) && from < to) {
    const start = Selection.findFrom(state.doc.resolve(from), 1, true);
    const end = Selection.findFrom(state.doc.resolve(to), -1, true);
    if (start && end) {
      dispatch?.(state.tr.setSelection(TextSelection.between(start.$from, end.$to)));
      return true;
    }
  }
  return selectCells(state, dispatch, view) || selectAll(state, dispatch, view);
};

/**
 * Move to the start or end of the page; `chosen`: whether to select the content up to there. The browser's own keys
 * skip blocks that it hasn't rendered (content-visibility in page.css), so they would miss the last paragraph.
 */
function goToEdge(edge: (doc: Node) => Selection, chosen: boolean): Command {
  return (state, dispatch) => {
    const there = edge(state.doc);
    const selection = chosen ? TextSelection.between(state.selection.$anchor, there.$head) : there;
    dispatch?.(state.tr.setSelection(selection).scrollIntoView());
    return true;
  };
}

/** Show placeholders in empty blocks, and mark the block with the caret. */
function placeholders(): Plugin {
  return new Plugin({
    props: {
      decorations(state) {
        const { $head, empty } = state.selection;
        const found: Decoration[] = [];
        if ($head.depth > 0) {
          // The browser can't place the caret in a block that it hasn't rendered, such as a new one.
          found.push(Decoration.node($head.before(1), $head.after(1), { class: "with-caret" }));
        }
        const mark = (position: number, node: Node, text: string): void => {
          found.push(
            Decoration.node(position, position + node.nodeSize, { class: "blank", "data-placeholder": text }),
          );
        };
        const only = state.doc.childCount === 1 && state.doc.firstChild!.type === nodes.paragraph &&
          !state.doc.firstChild!.content.size;
        if (only) mark(0, state.doc.firstChild!, words.writeHere);
        else if (empty && !$head.parent.content.size && $head.depth > 0) {
          const { parent } = $head;
          if (parent.type === nodes.paragraph && $head.node(-1).type !== nodes.table_cell) {
            mark($head.before(), parent, words.writeHere);
          } else if (parent.type.name.startsWith("heading_")) mark($head.before(), parent, words.heading);
        }
        return DecorationSet.create(state.doc, found);
      },
    },
  });
}

/**
 * Insert text below a block that is selected as a whole, instead of replacing it, so that a key that was meant for
 * something else never deletes a block.
 */
function typingBelow(): Plugin {
  return new Plugin({
    props: {
      handleTextInput(view, _from, _to, text) {
        const { state } = view;
        if (!writeBelow(state, view.dispatch, view)) return false;
        view.dispatch(view.state.tr.insertText(text).scrollIntoView());
        return true;
      },
    },
  });
}

/** Add text below the last block when the space below it is clicked. */
function endOfPage(): Plugin {
  return new Plugin({
    props: {
      handleDOMEvents: {
        mousedown(view, event) {
          const last = view.dom.lastElementChild?.getBoundingClientRect();
          if (event.target !== view.dom || last === undefined || event.clientY <= last.bottom) return false;
          event.preventDefault();
          view.focus();
          const { state } = view;
          const { lastChild } = state.doc;
          const end = state.doc.content.size;
          if (lastChild !== null && lastChild.type === nodes.paragraph && !lastChild.content.size) {
            view.dispatch(state.tr.setSelection(TextSelection.create(state.doc, end - 1)));
          } else paragraphAfter(state, end, view.dispatch);
          return true;
        },
      },
    },
  });
}

/** Show content when the caret moves into it: a tab, or a collapsed block. */
function revealing(): Plugin {
  return new Plugin({
    view: () => ({
      update(view, before) {
        if (!view.state.selection.eq(before.selection) && view.hasFocus()) {
          reveal(view, view.state.selection.head);
        }
      },
    }),
  });
}

export function editingPlugins(keys: Keys): Plugin[] {
  return [
    finishing(),
    typingRules(),
    keymap(bindings(keys)),
    keymap(baseKeymap),
    uniqueKeys(),
    history({ newGroupDelay: 600 }),
    dropCursor({ color: false, class: "drop-line", width: 2.5 }),
    gapCursor(),
    placeholders(),
    typingBelow(),
    endOfPage(),
    revealing(),
  ];
}
