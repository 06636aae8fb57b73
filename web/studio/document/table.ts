/** The table of node types from `core/document/schema.py`. */
import made from "../../generated/nodes.json" with { type: "json" };

export interface NodeType {
  /** "blocks", "inlines", the one type allowed, or null for a node without children. */
  children: string | null;
  fragments: boolean;
  public: boolean;
}

interface Table {
  blocks: Record<string, NodeType>;
  inlines: Record<string, NodeType>;
  marks: string[];
  colors: string[];
  nestedOnly: string[];
  columnTypes: string[];
  refs: Record<string, { required: string[]; optional: string[] }>;
  /** The version of the editor's schema. People who edit a page together need the same version. */
  editor: string;
}

export const table = made as Table;

/** Return the editor's name for a node type. Blocks, inlines, and marks can share a name in documents, but not in
 * the editor. */
export function editorName(object: "block" | "inline", type: string): string {
  const name = type.replaceAll("-", "_");
  if (object === "inline") return type in table.blocks ? `inline_${name}` : name;
  return table.marks.includes(type) ? `${name}_block` : name;
}

/** Marks from the outermost to the innermost, for documents that don't specify an order. */
const ORDER = [
  "link",
  "annotation",
  "color",
  "bold",
  "italic",
  "strikethrough",
  "keyboard",
  "superscript",
  "subscript",
  "code",
];

/** The types of marks in the editor, outermost first. */
export const MARK_TYPES = [...ORDER, ...table.marks.filter((each) => !ORDER.includes(each))];
