/**
 * The nodes of a read-only page: the part of the editor's nodes that its views use. The editor's own code is large
 * and is loaded when someone starts to write.
 */
import type { Node } from "prosemirror-model";
import { Builder, Foreign, RANK } from "./building.ts";
import { same } from "./comparing.ts";
import { editorName, table } from "./table.ts";
import type { BlockJson, Data, DocumentJson } from "./types.ts";

interface ShownType {
  name: string;
  isInline: boolean;
  isLeaf: boolean;
  isTextblock: boolean;
}

interface ShownMark {
  type: { name: string };
  attrs: Data;
  eq(other: ShownMark): boolean;
}

const LINES = new Set([
  "table_heading",
  ...Object.entries(table.blocks).filter(([, row]) => row.children === "inlines").map(([type]) =>
    editorName("block", type)
  ),
]);
const LEAVES = new Set([
  "opaque",
  "table_value",
  ...Object.entries(table.blocks).filter(([, row]) => row.children === null && !row.fragments).map(([type]) =>
    editorName("block", type)
  ),
]);
const INLINES = new Set([
  "text",
  "hard_break",
  "held",
  ...Object.keys(table.inlines).map((type) => editorName("inline", type)),
]);

const types = new Map<string, ShownType>();

function typeOf(name: string): ShownType {
  let type = types.get(name);
  if (!type) {
    const isInline = INLINES.has(name);
    type = { name, isInline, isLeaf: isInline || LEAVES.has(name), isTextblock: LINES.has(name) };
    types.set(name, type);
  }
  return type;
}

class ShownNode {
  readonly nodeSize: number;
  readonly content: { size: number };

  constructor(
    readonly type: ShownType,
    readonly attrs: Data,
    readonly children: ShownNode[],
    readonly marks: readonly ShownMark[],
    readonly text?: string,
  ) {
    const size = children.reduce((sum, child) => sum + child.nodeSize, 0);
    this.content = { size };
    this.nodeSize = text?.length ?? (type.isLeaf ? 1 : size + 2);
  }

  get isText(): boolean {
    return this.text !== undefined;
  }

  get isInline(): boolean {
    return this.type.isInline;
  }

  get isBlock(): boolean {
    return !this.type.isInline;
  }

  get isLeaf(): boolean {
    return this.type.isLeaf;
  }

  get isTextblock(): boolean {
    return this.type.isTextblock;
  }

  get childCount(): number {
    return this.children.length;
  }

  get firstChild(): ShownNode | null {
    return this.children[0] ?? null;
  }

  get textContent(): string {
    return this.text ?? this.children.map((child) => child.textContent).join("");
  }

  child(at: number): ShownNode {
    return this.children[at]!;
  }

  maybeChild(at: number): ShownNode | null {
    return this.children[at] ?? null;
  }

  forEach(visit: (child: ShownNode, offset: number, at: number) => void): void {
    let offset = 0;
    this.children.forEach((child, at) => {
      visit(child, offset, at);
      offset += child.nodeSize;
    });
  }

  /** Visit all nodes inside, except those in a node for which the function returns false. */
  descendants(visit: (node: ShownNode, position: number) => boolean | void, start = 0): void {
    this.forEach((child, offset) => {
      if (visit(child, start + offset) !== false) child.descendants(visit, start + offset + 1);
    });
  }

  eq(other: ShownNode): boolean {
    return this === other ||
      this.type === other.type && this.text === other.text && same(this.attrs, other.attrs) &&
        this.marks.length === other.marks.length &&
        this.marks.every((mark, at) => mark.eq(other.marks[at]!)) &&
        this.childCount === other.childCount && this.children.every((child, at) => child.eq(other.child(at)));
  }

  resolve(position: number): ShownPosition {
    return new ShownPosition(this, position);
  }
}

/** A position in a node, with all nodes that contain it. */
class ShownPosition {
  /** The path from the outside in: each node, the number of the child at the position, and the start of its
   * content. */
  #path: { node: ShownNode; at: number; start: number }[] = [];

  constructor(doc: ShownNode, readonly pos: number) {
    let node: ShownNode | undefined = doc;
    let start = 0;
    while (node) {
      let at = 0;
      let next = start;
      for (; at < node.childCount && next + node.child(at).nodeSize <= pos; at++) {
        next += node.child(at).nodeSize;
      }
      this.#path.push({ node, at, start });
      const inside: ShownNode | undefined = next < pos ? node.children[at] : undefined;
      node = inside?.isText ? undefined : inside;
      start = next + 1;
    }
  }

  get depth(): number {
    return this.#path.length - 1;
  }

  get parent(): ShownNode {
    return this.node(this.depth);
  }

  node(depth: number): ShownNode {
    return this.#path[depth]?.node as ShownNode;
  }

  index(depth = this.depth): number {
    return this.#path[depth]!.at;
  }

  start(depth = this.depth): number {
    return this.#path[depth]!.start;
  }

  end(depth = this.depth): number {
    return this.start(depth) + this.node(depth).content.size;
  }

  /** Return the position before the node at a depth. */
  before(depth = this.depth): number {
    return this.start(depth) - 1;
  }
}

function newMark(name: string, attrs: Data): ShownMark {
  const eq = (other: ShownMark): boolean => name === other.type.name && same(attrs, other.attrs);
  return { type: { name }, attrs, eq };
}

const builder = new Builder<ShownNode, ShownMark>({
  node: (type, attributes, content, marks) =>
    new ShownNode(typeOf(type), { data: {}, ...attributes }, content ?? [], marks ?? []),
  text: (text, marks) => new ShownNode(typeOf("text"), {}, [], marks ?? [], text),
  mark(type, { uid: _, ...attributes }, among) {
    const rank = RANK.get(type)!;
    const others = among.filter((one) => one.type.name !== type);
    const outer = others.filter((one) => RANK.get(one.type.name)! < rank);
    return [...outer, newMark(type, attributes), ...others.slice(outer.length)];
  },
});

function block(json: BlockJson): ShownNode {
  try {
    return builder.block(json);
  } catch (problem) {
    if (!(problem instanceof Foreign)) throw problem;
    return new ShownNode(typeOf("opaque"), { json: json as unknown as Data }, [], []);
  }
}

/** Return a page for a read-only view. */
export function shownDocument(document: DocumentJson): Node {
  return builder.page(document, block) as unknown as Node;
}
