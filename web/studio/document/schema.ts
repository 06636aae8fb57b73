/**
 * The editor's schema, with one node type for each type in documents.
 *
 * Every node has the `key`, `data`, and `meta` of the document. Fragments are nodes (`caption`, `expandable_title`,
 * `expandable_body`, `table_cell`). Links and annotations are marks with a unique ID, so that adjacent ones never
 * merge. Other inlines are atoms. Content that this schema can't represent is an `opaque` block.
 */
import {
  type AttributeSpec,
  type DOMOutputSpec,
  type MarkSpec,
  type Node,
  type NodeSpec,
  Schema,
} from "prosemirror-model";
import { drawMark } from "./drawing.ts";
import { drawBlock, drawInline } from "./richdrawing.ts";
import { blockRules, inlineRules, markRules } from "./parsing.ts";
import { editorName, MARK_TYPES, table } from "./table.ts";

const ATTRIBUTES: Record<string, AttributeSpec> = {
  key: { default: null },
  data: { default: {} },
  meta: { default: null },
};

const FRAGMENT: Record<string, AttributeSpec> = {
  key: { default: null },
  fragment: { default: null },
  type: { default: null },
};

/** The key of the column of a heading or cell, by which each row keeps the order of the headings. */
const COLUMN: Record<string, AttributeSpec> = { col: { default: null } };

/** The content of a type, for types whose `children` in the table are less specific. */
const CONTENT: Record<string, string> = {
  image: "caption?",
  file: "caption?",
  embed: "caption?",
  expandable: "expandable_title expandable_body",
  table: "table_head table_row*",
  unknown: "block*",
  "api-part": "block*",
  "api-method": "block*",
};

const EXTRA: Record<string, Partial<NodeSpec>> = {
  paragraph: { attrs: { ...ATTRIBUTES, blank: { default: false } } },
  "heading-1": { defining: true },
  "heading-2": { defining: true },
  "heading-3": { defining: true },
  "list-item": { defining: true },
  blockquote: { defining: true },
  hint: { defining: true },
  code: { defining: true, isolating: true },
  "code-line": { code: true, defining: true, whitespace: "pre" },
  image: { isolating: true },
  file: { isolating: true },
  embed: { isolating: true },
  expandable: { isolating: true },
  "tabs-item": { isolating: true },
  "stepper-step": { defining: true },
  column: { isolating: true },
  table: {
    isolating: true,
    allowGapCursor: false,
    attrs: { ...ATTRIBUTES, hidden: { default: {} }, rest: { default: [] } },
  },
  if: { defining: true },
};

/** The content of a table cell: blocks with an HTML element. The format writes no other blocks in cells. */
const IN_CELLS = new Set([
  "paragraph",
  "heading-1",
  "heading-2",
  "heading-3",
  "list-unordered",
  "list-ordered",
  "list-tasks",
  "blockquote",
  "code",
  "images",
  "divider",
  "unknown",
]);

function contentOf(type: string, children: string | null): string | undefined {
  const own = CONTENT[type];
  if (own !== undefined) return own;
  if (children === null) return undefined;
  if (children === "inlines") return "inline*";
  if (children === "blocks") return "block+";
  return `${editorName("block", children)}+`;
}

function nodes(): Record<string, NodeSpec> {
  const found: Record<string, NodeSpec> = { doc: { content: "block+" } };
  for (const [type, row] of Object.entries(table.blocks)) {
    const content = contentOf(type, row.children);
    found[editorName("block", type)] = {
      attrs: ATTRIBUTES,
      ...(content === undefined ? { atom: true } : { content }),
      ...(table.nestedOnly.includes(type) ? {} : { group: IN_CELLS.has(type) ? "block in_cells" : "block" }),
      ...(type === "code-line" ? { marks: "_" } : {}),
      draggable: content === undefined,
      selectable: true,
      toDOM: (node: Node): DOMOutputSpec => drawBlock(node),
      parseDOM: blockRules(type),
      ...EXTRA[type],
    };
  }
  const part = (content: string, more: Partial<NodeSpec> = {}): NodeSpec => ({
    content,
    attrs: FRAGMENT,
    isolating: true,
    selectable: false,
    toDOM: (node: Node): DOMOutputSpec => drawBlock(node),
    parseDOM: [],
    ...more,
  });
  found["caption"] = part("paragraph+");
  found["expandable_title"] = part("paragraph");
  found["expandable_body"] = part("block+");
  found["table_head"] = part("table_heading+", { attrs: {}, isolating: false, allowGapCursor: false });
  found["table_heading"] = part("text*", {
    attrs: { id: { default: null }, column: { default: { type: "text", textAlignment: "left" } }, ...COLUMN },
    marks: "",
  });
  found["table_row"] = part("(table_cell | table_value)*", {
    attrs: { id: { default: null }, order: { default: null }, values: { default: {} } },
    isolating: false,
    allowGapCursor: false,
  });
  found["table_cell"] = part("in_cells+", { attrs: { ...FRAGMENT, absent: { default: false }, ...COLUMN } });
  found["table_value"] = {
    attrs: { value: { default: null }, ...COLUMN },
    atom: true,
    selectable: false,
    toDOM: (node: Node): DOMOutputSpec => drawBlock(node),
  };
  found["opaque"] = {
    attrs: { json: {} },
    group: "block in_cells",
    atom: true,
    draggable: true,
    toDOM: (node: Node): DOMOutputSpec => drawBlock(node),
  };
  found["text"] = { group: "inline" };
  found["hard_break"] = {
    inline: true,
    group: "inline",
    selectable: false,
    linebreakReplacement: true,
    toDOM: (): DOMOutputSpec => ["br"],
    parseDOM: [{ tag: "br" }],
  };
  for (const type of Object.keys(table.inlines)) {
    if (type === "link" || type === "annotation") continue;
    found[editorName("inline", type)] = {
      attrs: ATTRIBUTES,
      inline: true,
      group: "inline",
      atom: true,
      draggable: true,
      toDOM: (node: Node): DOMOutputSpec => drawInline(node),
      parseDOM: inlineRules(type),
    };
  }
  // An inline that is kept unchanged: an unknown type, or a link or annotation without text.
  found["held"] = {
    attrs: { json: {} },
    inline: true,
    group: "inline",
    atom: true,
    toDOM: (node: Node): DOMOutputSpec => drawInline(node),
  };
  return found;
}

function marks(): Record<string, MarkSpec> {
  const found: Record<string, MarkSpec> = {};
  for (const type of MARK_TYPES) {
    found[type] = {
      attrs: type === "link" || type === "annotation"
        ? {
          uid: { default: 0 },
          key: { default: null },
          data: { default: {} },
          meta: { default: null },
          fragments: { default: [] },
        }
        : type === "color"
        ? { at: { default: null }, text: { default: "default" }, background: { default: "default" } }
        : { at: { default: null } },
      inclusive: !(type === "link" || type === "annotation"),
      toDOM: (mark): DOMOutputSpec => drawMark(mark),
      parseDOM: markRules(type),
    };
  }
  return found;
}

export const schema = new Schema({ nodes: nodes(), marks: marks() });

/** Return a block key that no other browser creates. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(6))].map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

const TYPES = new Map([
  ...Object.keys(table.blocks).map((type) => [editorName("block", type), type] as const),
  ...Object.keys(table.inlines).map((type) => [editorName("inline", type), type] as const),
]);

/** Return the document type of an editor node; undefined for fragments, rows, breaks, and unchanged content. */
export function documentType(node: Node): string | undefined {
  return TYPES.get(node.type.name);
}
