/** The table of node types, as `core/document/schema.py` has it. */
import made from "../../generated/nodes.json" with { type: "json" };

export interface FieldType {
  kind: "text" | "bool" | "number" | "int" | "ref" | "length" | "texts" | "object";
  required?: boolean;
  choices?: string[];
  meta?: boolean;
}

export interface NodeType {
  data: Record<string, FieldType>;
  /** "blocks", "inlines", the one type that may be there, or null for a node without children. */
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
  /** The version of the editor's schema: whoever edits a page with others has the same. */
  editor: string;
}

export const table = made as Table;

/** The editor's name of a node type. Blocks, inlines and marks may share a name in documents, not in the editor. */
export function editorName(object: "block" | "inline", type: string): string {
  const name = type.replaceAll("-", "_");
  if (object === "inline") return type in table.blocks ? `inline_${name}` : name;
  return table.marks.includes(type) ? `${name}_block` : name;
}
