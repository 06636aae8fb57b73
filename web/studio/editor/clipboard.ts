/**
 * Copying and pasting. Nodes are copied between pages of the app unchanged. HTML from other apps is filtered by the
 * schema, Markdown text is converted, URLs become links, and files are uploaded.
 */
import { DOMParser, DOMSerializer, Fragment, type Node, type ParseOptions, Slice } from "prosemirror-model";
import { type EditorState, NodeSelection, Plugin, TextSelection, type Transaction } from "prosemirror-state";
import { Transform } from "prosemirror-transform";
import type { EditorView } from "prosemirror-view";
import { safeUrl } from "../document/drawing.ts";
import { uid } from "../document/building.ts";
import { schema } from "../document/schema.ts";
import { childrenOf } from "../document/building.ts";
import { notices } from "../state/notices.svelte.ts";
import { readCells } from "../document/parsing.ts";
import { CellSelection, cellsOf } from "./cells.ts";
import { withKeys } from "./blockkeys.ts";
import { arrange, harmless } from "./pasted.ts";
import { headless } from "./grid.ts";
import { newTable, pasteCells, type PastedCell, textOfCell } from "./tablecommands.ts";
import { words } from "./words.ts";

const OWN = "application/x-octavo-slice";
/** The clipboard type in which VS Code stores facts about copied text, including its language. */
const VSCODE = "vscode-editor-data";
const { nodes, marks } = schema;

export interface ClipboardOptions {
  /** Return Markdown as blocks; rejects if it can't be parsed now. */
  readMarkdown: (text: string) => Promise<Node[]>;
  /** Insert files that were pasted or dropped at a position. */
  takeFiles: (view: EditorView, files: File[], at: number) => void;
}

/** Return whether a text has syntax that only Markdown has: a fence, a table, two headings or list items, a link. */
export function looksLikeMarkdown(text: string): boolean {
  if (/^(`{3,}|~{3,})/m.test(text) || /^\|.*\|\s*\n\|[\s:|-]+\|/m.test(text) || /^\{% \w+/m.test(text)) {
    return true;
  }
  if (/^#{1,6} \S/m.test(text)) return true;
  const lines = text.match(/^(\s*([-*+]|\d+[.)]) |> )\S/gm)?.length ?? 0;
  if (lines >= 2 || (lines === 1 && !text.trim().includes("\n"))) return true;
  return /\[[^\]\n]+\]\([^)\s]+\)|\*\*[^*\s][^*\n]*\*\*|(^|\s)`[^`\n]+`/.test(text);
}

/** Insert text as lines of code, unchanged. */
export function insertLines(state: EditorState, text: string): Transaction {
  const [first = "", ...rest] = text.replace(/\r\n?/g, "\n").split("\n");
  const transaction = state.tr.deleteSelection();
  if (first) transaction.insertText(first);
  for (const line of rest) {
    transaction.split(transaction.selection.from, 1, [{ type: nodes.code_line! }]);
    if (line) transaction.insertText(line);
  }
  return transaction.scrollIntoView();
}

/** Convert plain text. An empty line starts a new paragraph; other line breaks are kept as line breaks. */
export function paragraphs(text: string): Node[] {
  return text.replace(/\r\n?/g, "\n").split(/\n{2,}/).filter((part) => part.trim()).map((part) => {
    const lines = part.replace(/^\n+|\n+$/g, "").split("\n");
    return nodes.paragraph!.create(
      null,
      lines.flatMap((
        line,
        at,
      ) => [...(at ? [nodes.hard_break!.create()] : []), ...(line ? [schema.text(line)] : [])]),
    );
  });
}

export function pasteBlocks(view: EditorView, blocks: Node[]): void {
  if (!blocks.length) return;
  const { state } = view;
  const single = blocks.length === 1 && blocks[0]!.type === nodes.paragraph;
  const content = Fragment.from(blocks.map(withKeys));
  const open = single ? 1 : 0;
  const { $from, empty } = state.selection;
  if (
    !open && empty && $from.parent.type === nodes.paragraph && !$from.parent.content.size &&
    $from.node(-1).canReplace($from.index(-1), $from.indexAfter(-1), content)
  ) {
    const at = $from.before();
    const transaction = state.tr.replaceWith(at, $from.after(), content);
    const end = at + content.size;
    view.dispatch(
      transaction.setSelection(TextSelection.near(transaction.doc.resolve(end), -1)).scrollIntoView().setMeta(
        "paste",
        true,
      ),
    );
    return;
  }
  const ends = blocks.at(-1)!.isTextblock && blocks[0]!.isTextblock ? 1 : open;
  view.dispatch(
    state.tr.replaceSelection(new Slice(content, ends, ends)).scrollIntoView().setMeta("paste", true),
  );
}

/** Return the text of a cell in the format of spreadsheets. */
function quoted(text: string): string {
  return /[\t\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Parse tab-separated text; quoted cells can contain line breaks. Return undefined if the text isn't a table. */
export function readTabbed(text: string): PastedCell[][] | undefined {
  if (!text.includes("\t")) return undefined;
  const rows: PastedCell[][] = [[]];
  const words = text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  for (let at = 0; at <= words.length;) {
    let cell = "";
    if (words[at] === '"') {
      let end = at + 1;
      while (end < words.length && (words[end] !== '"' || words[end + 1] === '"')) {
        end += words[end] === '"' ? 2 : 1;
      }
      const after = words[end + 1];
      if (end < words.length && (after === undefined || after === "\t" || after === "\n")) {
        cell = words.slice(at + 1, end).replaceAll('""', '"');
        at = end + 1;
      }
    }
    if (!cell && words[at] !== undefined && words[at] !== "\t" && words[at] !== "\n") {
      const end = words.slice(at).search(/[\t\n]/);
      cell = end < 0 ? words.slice(at) : words.slice(at, at + end);
      at += cell.length;
    }
    rows.at(-1)!.push({ text: cell });
    if (words[at] === "\n") rows.push([]);
    at++;
  }
  return rows;
}

/** Return the cells of a table node row by row, with the header unless it is hidden. */
function cellsOfTable(table: Node): PastedCell[][] {
  return childrenOf(table).slice(headless(table) ? 1 : 0).map((row) =>
    childrenOf(row).map((cell) => ({
      text: textOfCell(cell),
      ...(cell.type === nodes.table_cell ? { blocks: childrenOf(cell) } : {}),
    }))
  );
}

/** Return cells as HTML for spreadsheets and word processors. */
function htmlOfCells({ content }: Slice): string {
  const table = document.createElement("table");
  const serializer = DOMSerializer.fromSchema(schema);
  for (const cells of cellsOfTable(content.firstChild!)) {
    const row = table.insertRow();
    for (const { text, blocks } of cells) {
      const cell = row.insertCell();
      if (blocks) cell.append(serializer.serializeFragment(Fragment.from([...blocks])));
      else cell.textContent = text;
    }
  }
  return table.outerHTML;
}

/** Return a table made of these cells. The first row is the header. */
function tableOf([head, ...rows]: PastedCell[][]): Node {
  const table = newTable(
    head!.length,
    rows.length,
    head!.map(({ text }) => text.replace(/\s+/g, " ").trim()),
  );
  const around = schema.topNodeType.create(null, table);
  const transform = new Transform(around);
  pasteCells(transform, 0, { row: 1, column: 0 }, rows);
  return transform.doc.firstChild!;
}

/** Paste cells into the table that contains the caret or the selected cells. A single cell fills all selected cells. */
function pasteIntoTable(view: EditorView, pasted: PastedCell[][]): boolean {
  const { state } = view;
  const cells = cellsOf(state);
  if (!cells || !pasted.some((row) => row.length)) return false;
  const { position, rectangle: { top, left, bottom, right } } = cells;
  const single = pasted.length === 1 && pasted[0]!.length === 1 && state.selection instanceof CellSelection;
  const filled = single
    ? Array.from(
      { length: bottom - top + 1 },
      () => Array.from({ length: right - left + 1 }, () => pasted[0]![0]!),
    )
    : pasted;
  const transaction = state.tr;
  const end = pasteCells(transaction, position, { row: top, column: left }, filled);
  const chosen = CellSelection.of(transaction.doc, position, {
    top,
    left,
    bottom: end.row,
    right: end.column,
  });
  view.dispatch(transaction.setSelection(chosen).scrollIntoView().setMeta("paste", true));
  return true;
}

/** Return a slice as plain text, with each line of code and each list item on its own line. */
function plainText(slice: Slice): string {
  const only = slice.content.childCount === 1 ? slice.content.firstChild! : null;
  if (only && only.type === nodes.table) {
    return cellsOfTable(only).map((row) => row.map(({ text }) => quoted(text)).join("\t")).join("\n");
  }
  const found: string[] = [];
  const visit = (node: Node, lead: string): void => {
    if (node.isTextblock) {
      found.push(
        lead +
          node.textBetween(0, node.content.size, "\n", (leaf) => leaf.type === nodes.hard_break ? "\n" : ""),
      );
      return;
    }
    if (node.type === nodes.table_row || node.type === nodes.table_head) {
      found.push(
        childrenOf(node).map((cell) => quoted(textOfCell(cell))).join("\t"),
      );
      return;
    }
    node.forEach((child, _, at) => {
      const item = child.type === nodes.list_item
        ? (node.type === nodes.list_ordered ? `${at + 1}. ` : "- ")
        : "";
      if (item) child.forEach((part, __, number) => visit(part, number ? "  " : item));
      else visit(child, lead);
    });
    if (node.type === nodes.code_block) found.push("");
  };
  slice.content.forEach((node) => visit(node, ""));
  return found.join("\n");
}

/** Language names of VS Code that differ from the names here. */
const MODES: Record<string, string> = {
  javascriptreact: "jsx",
  typescriptreact: "tsx",
  shellscript: "bash",
  jsonc: "json",
  jsonl: "json",
  "objective-c": "objectivec",
  dockercompose: "yaml",
  tex: "latex",
};
/** VS Code languages of text that isn't code. */
const PROSE = ["markdown", "mdx", "plaintext", "prompt", "chatagent", "instructions"];
/** The start of HTML from code editors: a block in a monospace font with preserved whitespace. */
const DRAWN_CODE =
  /^(?:\s|<meta[^>]*>|<!--[^>]*-->|<\/?(?:html|head|body)[^>]*>)*<div[^>]*?\sstyle\s*=\s*("[^"]*"|'[^']*')/i;

/** Return code from the clipboard of a code editor, with its language if known; undefined if the clipboard doesn't
 * contain code. */
export function listingOf(data: Pick<DataTransfer, "getData">): { text: string; syntax: string } | undefined {
  const text = data.getData("text/plain").replace(/\r\n?/g, "\n");
  const pasted = data.getData(VSCODE);
  if (pasted) {
    const mode = modeOf(pasted);
    return mode === undefined || PROSE.includes(mode) ? undefined : { text, syntax: MODES[mode] ?? mode };
  }
  const style = DRAWN_CODE.exec(data.getData("text/html"))?.[1] ?? "";
  if (!/white-space:\s*pre/i.test(style) || !/font-family:[^;]*(mono|courier|consolas|menlo)/i.test(style)) {
    return undefined;
  }
  // It can also be the Markdown of a page, which has these unambiguous signs.
  return /^(`{3,}|~{3,})|^\{% \w+/m.test(text) ? undefined : { text, syntax: "" };
}

function modeOf(pasted: string): string | undefined {
  try {
    const { mode } = JSON.parse(pasted);
    return typeof mode === "string" && /^[\w+#-]{1,40}$/.test(mode) ? mode : undefined;
  } catch {
    return undefined;
  }
}

/** Paste code. Several lines become a code block, and part of one line becomes inline code. */
function pasteListing(view: EditorView, { text, syntax }: { text: string; syntax: string }): void {
  if (!text.includes("\n")) {
    view.dispatch(
      view.state.tr.replaceSelectionWith(schema.text(text, [marks.code!.create()]), false)
        .removeStoredMark(marks.code!).scrollIntoView().setMeta("paste", true),
    );
    return;
  }
  const lines = text.replace(/\n+$/, "").split("\n").map((line) =>
    nodes.code_line!.create(null, line ? schema.text(line) : null)
  );
  pasteBlocks(view, [nodes.code_block!.create(syntax ? { data: { syntax } } : null, lines)]);
}

/** Return an image that is embedded in the HTML as a file. */
function fileOf(image: HTMLImageElement, number: number): File | undefined {
  const found = /^data:(image\/(png|jpeg|gif|webp));base64,([A-Za-z0-9+/=\s]+)$/.exec(
    image.getAttribute("src") ?? "",
  );
  if (found === null) return undefined;
  try {
    const bytes = Uint8Array.from(atob(found[3]!), (letter) => letter.charCodeAt(0));
    return new File([bytes], `image-${number}.${found[2] === "jpeg" ? "jpg" : found[2]}`, {
      type: found[1]!,
    });
  } catch {
    return undefined;
  }
}

/** Return content copied in the app; undefined if it has another schema version, because its HTML is nearly as good. */
function ownSlice(data: DataTransfer): Slice | undefined {
  const own = data.getData(OWN);
  if (!own) return undefined;
  try {
    const slice = Slice.fromJSON(schema, JSON.parse(own));
    slice.content.forEach((node) => node.check());
    return slice;
  } catch {
    return undefined;
  }
}

/** Return the cells if the HTML is only a table. */
function tableIn(dom: HTMLElement): PastedCell[][] | undefined {
  const tables = dom.querySelectorAll("table");
  const [only] = tables;
  if (!only || tables.length > 1 || only.textContent?.trim() !== dom.textContent?.trim()) return undefined;
  return readCells(only, schema);
}

export function clipboard({ readMarkdown, takeFiles }: ClipboardOptions): Plugin {
  let images: HTMLImageElement[] = [];
  /** The cells of the pasted HTML if it is only a table. */
  let table: PastedCell[][] | undefined;
  /** Parse HTML with the schema after normalizing it. */
  const parser = {
    parseSlice(dom: HTMLElement, options?: ParseOptions): Slice {
      images = arrange(dom);
      table = tableIn(dom);
      const { content, openStart, openEnd } = DOMParser.fromSchema(schema).parseSlice(dom, options);
      return new Slice(Fragment.from(childrenOf(content).map(withKeys)), openStart, openEnd);
    },
  } as DOMParser;
  /** Upload the images that are embedded in the pasted HTML, and report the ones that can't be loaded. */
  const takeImages = (view: EditorView): void => {
    if (!images.length) return;
    const files = images.map((image, at) => fileOf(image, at + 1)).filter((file) => file !== undefined);
    if (files.length < images.length) notices.say(words.imagesLeftOut, { bad: true });
    // Wait until the text before them was inserted.
    if (files.length) setTimeout(() => view.isDestroyed || takeFiles(view, files, view.state.selection.from));
  };
  const copy = (view: EditorView, event: ClipboardEvent, cut: boolean): boolean => {
    const { selection } = view.state;
    if (selection.empty || event.clipboardData === null) return false;
    const slice = selection.content();
    const html = selection instanceof CellSelection
      ? htmlOfCells(slice)
      : view.serializeForClipboard(slice).dom.innerHTML;
    event.preventDefault();
    event.clipboardData.clearData();
    event.clipboardData.setData("text/html", html);
    event.clipboardData.setData("text/plain", plainText(slice));
    event.clipboardData.setData(OWN, JSON.stringify(slice.toJSON()));
    if (cut && view.editable) {
      view.dispatch(view.state.tr.deleteSelection().scrollIntoView().setMeta("uiEvent", "cut"));
    }
    return true;
  };
  /** Paste cells into cells. Other content goes into the first selected cell. */
  const pasteCellsOf = (view: EditorView, data: DataTransfer): boolean => {
    const { state } = view;
    const text = data.getData("text/plain");
    if (!cellsOf(state)) return false;
    const own = ownSlice(data);
    const only = own?.content.childCount === 1 ? own.content.firstChild : null;
    if (only && only.type === nodes.table) return pasteIntoTable(view, cellsOfTable(only));
    const several = data.getData("text/html") ? table : undefined;
    const cells = several ?? (data.getData(VSCODE) ? undefined : readTabbed(text));
    if (cells) return pasteIntoTable(view, cells);
    if (!(state.selection instanceof CellSelection) || own || !text || data.files.length) return false;
    return pasteIntoTable(view, [[{ text }]]);
  };
  return new Plugin({
    props: {
      handleDOMEvents: {
        copy: (view, event) => copy(view, event, false),
        cut: (view, event) => copy(view, event, true),
      },
      transformPastedHTML: harmless,
      clipboardParser: parser,
      clipboardTextSerializer: (slice) => plainText(slice),
      handlePaste(view, event) {
        const data = event.clipboardData;
        if (data === null) return false;
        const { state } = view;
        const text = data.getData("text/plain");
        if (state.selection.$from.parent.type === nodes.code_line && text) {
          view.dispatch(insertLines(state, text));
          return true;
        }
        if (pasteCellsOf(view, data)) return true;
        if (state.selection.$from.parent.type === nodes.table_heading) {
          view.dispatch(state.tr.insertText(text.replace(/\s+/g, " ")).scrollIntoView());
          return true;
        }
        const own = ownSlice(data);
        if (own) {
          view.dispatch(state.tr.replaceSelection(own).scrollIntoView().setMeta("paste", true));
          return true;
        }
        const listing = listingOf(data);
        if (listing?.text) {
          pasteListing(view, listing);
          return true;
        }
        // The HTML of VS Code contains only colors.
        const html = data.getData(VSCODE) ? "" : data.getData("text/html");
        const files = [...data.files];
        if (files.length && !html) {
          takeFiles(view, files, state.selection.from);
          return true;
        }
        const address = /^https?:\/\/\S+$/.test(text.trim()) ? safeUrl(text.trim()) : undefined;
        if (address !== undefined && state.selection instanceof TextSelection) {
          return pasteAddress(view, address);
        }
        // Code editors add HTML with their colors, which contains less than the Markdown in the text.
        const codes = /<meta[^>]*(vscode|monaco)|<pre|data-vscode|monospace/i.test(html) &&
          !/<(h[1-6]|ul|ol|table|a )/i.test(html);
        if (text && (!html || codes) && looksLikeMarkdown(text)) {
          const { from, to } = state.selection;
          readMarkdown(text).then((blocks) => {
            if (view.isDestroyed) return;
            // Keep text that was typed in the meantime: the position is only valid if nothing was typed.
            if (view.state.selection.from !== from || view.state.selection.to !== to) {
              const end = Math.min(from, view.state.doc.content.size);
              view.dispatch(view.state.tr.setSelection(TextSelection.near(view.state.doc.resolve(end))));
            }
            pasteBlocks(view, blocks);
          }, () => pasteBlocks(view, paragraphs(text)));
          return true;
        }
        const tabbed = text && !html ? readTabbed(text) : undefined;
        if (tabbed && tabbed.length > 1 && tabbed.every((row) => row.length === tabbed[0]!.length)) {
          pasteBlocks(view, [tableOf(tabbed)]);
          return true;
        }
        if (text && !html) {
          pasteBlocks(view, paragraphs(text));
          return true;
        }
        takeImages(view);
        return false;
      },
      handleDrop(view, event) {
        const files = [...(event.dataTransfer?.files ?? [])];
        if (view.dragging) return false;
        if (!files.length) {
          takeImages(view);
          return false;
        }
        const at = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos ??
          view.state.doc.content.size;
        event.preventDefault();
        takeFiles(view, files, at);
        return true;
      },
    },
  });
}

/** Paste a URL. It links the selected text or, if no text is selected, is inserted as the text of a link. */
function pasteAddress(view: EditorView, url: string): boolean {
  const { state } = view;
  const { from, to, empty, $from } = state.selection;
  if (state.selection instanceof NodeSelection || $from.parent !== state.selection.$to.parent) return false;
  const mark = marks.link!.create({ uid: uid(), data: { ref: { kind: "url", url } } });
  const transaction = empty
    ? state.tr.replaceSelectionWith(schema.text(url, [...$from.marks(), mark]), false)
    : state.tr.removeMark(from, to, marks.link!).addMark(from, to, mark);
  view.dispatch(transaction.removeStoredMark(mark).scrollIntoView().setMeta("paste", true));
  return true;
}
