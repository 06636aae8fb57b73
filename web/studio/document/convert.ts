/**
 * Converts documents for the editor and back.
 *
 * `readDocument` converts each top-level block, converts it back, and compares the two. A block that differs
 * becomes an `opaque` block, which is shown as a card and returned to the server unchanged. `writeBlock` caches its
 * result by node. Nodes never change, so writing a page again only costs time for edited blocks.
 */
import type { Mark, Node } from "prosemirror-model";
import { Builder, childrenOf, Foreign, RANK } from "./building.ts";
import { same } from "./comparing.ts";
import { documentType, schema } from "./schema.ts";
import { table } from "./table.ts";
import type {
  BlockJson,
  Data,
  DocumentJson,
  FragmentJson,
  InlineJson,
  Json,
  LeafJson,
  MarkJson,
  TextJson,
} from "./types.ts";

// --- into the editor ---------------------------------------------------------------------------------------

const builder = new Builder<Node, Mark>({
  node: (type, attributes, content, marks) => schema.nodes[type]!.create(attributes, content, marks),
  text: (text, marks) => schema.text(text, marks),
  mark: (type, attributes, among) => schema.marks[type]!.create(attributes).addToSet(among),
});

/** Convert a page to the editor's nodes. */
export function readDocument(document: DocumentJson): Node {
  return builder.page(document, readTopBlock);
}

/** Convert one top-level block. It becomes `opaque` if the editor couldn't return it unchanged. */
export function readTopBlock(json: BlockJson): Node {
  try {
    const node = builder.block(json);
    node.check();
    if (same(writeBlock(node), json)) return node;
  } catch (problem) {
    if (!(problem instanceof Foreign || problem instanceof RangeError)) throw problem;
  }
  return schema.nodes.opaque!.create({ json });
}

// --- and back ----------------------------------------------------------------------------------------------

const written = new WeakMap<Node, BlockJson>();

/** Return the blocks of a page as the API expects them. Empty paragraphs exist only in the editor and are omitted. */
export function writeDocument(doc: Node): DocumentJson {
  return { object: "document", nodes: writeBlocks(doc) };
}

/** Return a block as the API expects it; the same object for the same node. */
export function writeBlock(node: Node): BlockJson {
  let json = written.get(node);
  if (json === undefined) {
    json = makeBlock(node);
    written.set(node, json);
  }
  return json;
}

/** Return whether a block is saved. A paragraph without text exists only for typing, so it isn't. */
export function isWritten(node: Node): boolean {
  return !(node.type === schema.nodes.paragraph && !node.content.size && !node.attrs.blank);
}

function writeBlocks(parent: Node): BlockJson[] {
  const found: BlockJson[] = [];
  parent.forEach((child) => {
    if (isWritten(child)) found.push(writeBlock(child));
  });
  return found;
}

/** Return the blocks of an item or a cell, with an empty paragraph if there are none. */
function writeFilled(parent: Node): BlockJson[] {
  const found = writeBlocks(parent);
  return found.length ? found : [writeBlock(parent.firstChild!)];
}

function writeAttributes(node: Node): Data {
  const { key, data, meta } = node.attrs;
  return { ...(key ? { key } : {}), data, ...(meta ? { meta } : {}) };
}

function makeBlock(node: Node): BlockJson {
  if (node.type === schema.nodes.opaque) return node.attrs.json as BlockJson;
  const type = documentType(node)!;
  const row = table.blocks[type]!;
  const head = { object: "block" as const, type, isVoid: row.children === null, ...writeAttributes(node) };
  if (type === "table") return { ...head, ...writeTable(node) };
  if (type === "expandable") {
    const fragments = ["expandable-title", "expandable-body"].map((name, at) => {
      const part = node.child(at);
      return writeFragment(part, name, at ? writeBlocks(part) : [writeBlock(part.firstChild!)]);
    });
    return { ...head, fragments };
  }
  if (row.children === "inlines") return { ...head, nodes: writeInlines(node) };
  if (type === "list-item") return { ...head, nodes: writeFilled(node) };
  if (row.children !== null) return { ...head, nodes: writeBlocks(node) };
  if (!row.fragments) return head;
  const fragments: FragmentJson[] = [];
  node.forEach((caption) => {
    const nodes = writeBlocks(caption);
    if (nodes.length) fragments.push(writeFragment(caption, "caption", nodes));
  });
  return fragments.length || type === "image" ? { ...head, fragments } : head;
}

function writeFragment(node: Node, fragment: string, nodes: BlockJson[]): FragmentJson {
  const { key, type } = node.attrs;
  return { object: "fragment", fragment, ...(type ? { type } : {}), ...(key ? { key } : {}), nodes };
}

function writeTable(node: Node): { data: Data; fragments: FragmentJson[] } {
  const { view, ...others } = node.attrs.data as Data & { view: Data };
  const hidden = node.attrs.hidden as Record<string, Data>;
  const rest = node.attrs.rest as unknown as FragmentJson[];
  const headings = childrenOf(node.firstChild!);
  const rows = childrenOf(node).slice(1);
  const columnNames = new Names(Object.keys(hidden), headings.map((heading) => heading.attrs.id));
  const rowNames = new Names([], rows.map((row) => row.attrs.id));
  const cells = rows.flatMap(childrenOf);
  const cellNames = new Names(
    rest.map((each) => each.fragment!),
    cells.map((cell) => cell.attrs.fragment ?? null),
  );
  const columns: string[] = [];
  const definition: Record<string, Data> = {};
  headings.forEach((heading, at) => {
    const id = columnNames.give(heading.attrs.id, (number) => `c${number}`, at + 1);
    columns.push(id);
    definition[id] = { ...(heading.attrs.column as Data), id, title: heading.textContent };
  });
  const orders = rows.map((row) => row.attrs.order as string | null);
  const ordered = orders.every((order, at) => order !== null && (!at || orders[at - 1]! < order));
  const fragments: FragmentJson[] = [];
  const records: Record<string, Data> = {};
  rows.forEach((row, number) => {
    const id = rowNames.give(row.attrs.id, (number) => `r${number}`, number + 1);
    const values: Data = { ...(row.attrs.values as Data) };
    row.forEach((cell, _, at) => {
      const column = columns[at];
      if (column === undefined) return;
      if (cell.type === schema.nodes.table_value) {
        if (cell.attrs.value !== null) values[column] = cell.attrs.value as Json;
        return;
      }
      const own = cell.attrs.fragment as string | null;
      if (cell.attrs.absent && cell.childCount === 1 && !isWritten(cell.firstChild!)) return;
      const name = cellNames.give(own, (number) => `${id}${column}${number > 1 ? `-${number}` : ""}`, 1);
      values[column] = name;
      fragments.push(writeFragment(cell, name, writeFilled(cell)));
    });
    records[id] = { orderIndex: ordered ? orders[number]! : String(number + 1).padStart(6, "0"), values };
  });
  const data = { ...others, view: { ...view, columns }, records, definition: { ...definition, ...hidden } };
  return { data: data as unknown as Data, fragments: [...fragments, ...rest] };
}

/** Names for the parts of a table: existing parts keep their names, and new and copied ones get unused names. */
class Names {
  #taken: Set<string>;
  #known: Set<string>;

  constructor(taken: string[], known: (string | null)[]) {
    this.#taken = new Set(taken);
    this.#known = new Set(known.filter((name) => name !== null));
  }

  give(own: string | null, make: (number: number) => string, first: number): string {
    let name = own;
    for (let number = first; name === null || this.#taken.has(name); number++) {
      const made = make(number);
      name = this.#known.has(made) ? null : made;
    }
    this.#taken.add(name);
    return name;
  }
}

/** Return the data of a button as the API expects it. */
function withAction(data: Data): Data {
  const { action, query, slug, ...others } = data;
  if (action === undefined && query === undefined) return others;
  return action === "select"
    ? { ...others, action: { action, slug: slug ?? "" } }
    : { ...others, action: { action: action ?? "search", query: query ?? "" } };
}

function isSpan(mark: Mark): boolean {
  return mark.type === schema.marks.link || mark.type === schema.marks.annotation;
}

function writeInlines(node: Node): (TextJson | InlineJson)[] {
  return writeRun(childrenOf(node), []);
}

/** Write adjacent inline nodes. The links and annotations in `within` are already open around them. */
function writeRun(nodes: Node[], within: readonly Mark[]): (TextJson | InlineJson)[] {
  const found: (TextJson | InlineJson)[] = [];
  for (let at = 0; at < nodes.length;) {
    const node = nodes[at]!;
    let outer: Mark | undefined;
    let end = at + 1;
    for (const mark of node.marks.filter((each) => isSpan(each) && !each.isInSet(within))) {
      let stop = at + 1;
      while (stop < nodes.length && mark.isInSet(nodes[stop]!.marks)) stop++;
      // The mark that spans more text is the outer one. If two have the same length, the one that was read
      // first is the outer one.
      if (outer === undefined || stop > end || (stop === end && mark.attrs.uid < outer.attrs.uid)) {
        outer = mark;
        end = stop;
      }
    }
    if (outer !== undefined) {
      const type = outer.type.name;
      const { key, data, meta, fragments } = outer.attrs;
      const inside = writeRun(nodes.slice(at, end), [...within, outer]);
      found.push({
        object: "inline",
        type,
        isVoid: false,
        ...(key ? { key } : {}),
        data,
        ...(meta ? { meta } : {}),
        nodes: inside,
        ...(type === "annotation" ? { fragments } : {}),
      });
      at = end;
      continue;
    }
    at++;
    if (node.isText || node.type === schema.nodes.hard_break) {
      addLeaf(found, {
        object: "leaf",
        text: node.isText ? node.text! : "\n",
        marks: writeMarks(node.marks),
      });
    } else if (node.type === schema.nodes.held) {
      found.push(node.attrs.json as InlineJson);
    } else {
      const type = documentType(node)!;
      const attrs = writeAttributes(node);
      if (type === "button") attrs.data = withAction(attrs.data as Data);
      found.push({ object: "inline", type, isVoid: table.inlines[type]!.children === null, ...attrs });
    }
  }
  return found;
}

function addLeaf(found: (TextJson | InlineJson)[], leaf: LeafJson): void {
  const last = found.at(-1);
  if (last?.object !== "text") {
    found.push({ object: "text", leaves: [leaf] });
    return;
  }
  const before = last.leaves.at(-1)!;
  if (same(before.marks, leaf.marks)) before.text += leaf.text;
  else last.leaves.push(leaf);
}

function writeMarks(marks: readonly Mark[]): MarkJson[] {
  const own = marks.filter((mark) => !isSpan(mark));
  const place = (mark: Mark): number => (mark.attrs.at as number | null) ?? 100 + RANK.get(mark.type.name)!;
  if (own.some((mark) => mark.attrs.at !== null)) own.sort((one, other) => place(one) - place(other));
  return own.map((mark) =>
    mark.type === schema.marks.color
      ? { object: "mark", type: "color", data: { text: mark.attrs.text, background: mark.attrs.background } }
      : { object: "mark", type: mark.type.name }
  );
}
