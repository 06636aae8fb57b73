/** Documents as text, for instructions of models and descriptions of change requests. */
import type { Schemas } from "../../shared/client.ts";

interface Node {
  object?: string;
  type?: string;
  nodes?: Node[];
  leaves?: { text: string; marks?: unknown[] }[];
}

/** Return the paragraphs of a document separated by empty lines; undefined if it contains more than plain text. */
export function textOf(document: { nodes: unknown }): string | undefined {
  const paragraphs: string[] = [];
  for (const block of document.nodes as Node[]) {
    if (block.type !== "paragraph") return;
    let text = "";
    for (const node of block.nodes ?? []) {
      if (!node.leaves || node.leaves.some((leaf) => leaf.marks?.length)) return;
      text += node.leaves.map((leaf) => leaf.text).join("");
    }
    paragraphs.push(text);
  }
  return paragraphs.join("\n\n");
}

/** Return all text of a document, with one line for each block that contains text. */
export function linesOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(linesOf).join("");
  if (typeof value !== "object" || value === null) return "";
  const { object, type, leaves, nodes } = value as Node;
  const end = object === "block" && type !== "list-item" ? "\n" : "";
  return (leaves ?? []).map(({ text }) => text).join("") + linesOf(nodes) + end;
}

export function documentOf(text: string): Schemas["UpdateInstructions"]["instructions"] {
  const paragraphs = text.split(/\n\s*\n/).map((one) => one.trim()).filter(Boolean);
  return {
    object: "document",
    nodes: paragraphs.map((paragraph) => ({
      object: "block",
      type: "paragraph",
      nodes: [{ object: "text", leaves: [{ object: "leaf", text: paragraph, marks: [] }] }],
    })),
  } as Schemas["UpdateInstructions"]["instructions"];
}
