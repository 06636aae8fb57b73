/**
 * Converts documents for the editor and back.
 *
 * `readDocument` converts each top-level block, converts it back, and compares the two. A block that differs becomes an
 * `opaque` block, which is shown as a card and sent back unchanged. `writeBlock` caches its result by node. Nodes never
 * change, so writing a page again only costs time for edited blocks.
 */
import { Fragment, type Mark, Node } from "prosemirror-model";
import { blockType, documentType, inlineType, schema, uid } from "./schema.ts";
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

/** Thrown if a document contains something that the editor can't represent. */
class Foreign extends Error {}

// --- into the editor ---------------------------------------------------------------------------------------

/** Convert a page for the editor. There is always a block: an empty page has one empty paragraph. */
export function readDocument(document: DocumentJson): Node {
  return schema.nodes.doc!.create(null, readBlocks(document.nodes.map(readTopBlock)));
}

/** Convert one top-level block; `opaque` if the editor couldn't return it unchanged. */
export function readTopBlock(json: BlockJson): Node {
  try {
    const node = readBlock(json);
    node.check();
    if (same(writeBlock(node), json)) return node;
  } catch (problem) {
    if (!(problem instanceof Foreign || problem instanceof RangeError)) throw problem;
  }
  return schema.nodes.opaque!.create({ json });
}

function readBlocks(found: Node[]): Fragment {
  return Fragment.from(found.length ? found : [schema.nodes.paragraph!.create()]);
}

function attributes(json: BlockJson | InlineJson): Data {
  return { key: json.key ?? null, data: json.data ?? {}, meta: json.meta ?? null };
}

function readBlock(json: BlockJson): Node {
  const row = table.blocks[json.type];
  if (row === undefined) throw new Foreign(json.type);
  const type = blockType(json.type);
  const attrs = attributes(json);
  const nodes = json.nodes ?? [];
  if (json.type === "table") return readTable(json);
  if (json.type === "expandable") return type.create(attrs, readExpandable(json.fragments ?? []));
  if (row.children === "inlines") {
    if (json.type === "paragraph" && !nodes.length) attrs.blank = true;
    return type.create(attrs, readInlines(nodes as InlineJson[], []));
  }
  if (row.children !== null) {
    const children = (nodes as BlockJson[]).map(readBlock);
    return type.create(
      attrs,
      json.type === "unknown" || row.children !== "blocks" ? children : readBlocks(children),
    );
  }
  return type.create(attrs, row.fragments ? (json.fragments ?? []).map(readCaption) : null);
}

function fragmentAttributes(json: FragmentJson): Data {
  return { key: json.key ?? null, fragment: json.fragment ?? null, type: json.type ?? null };
}

function readCaption(json: FragmentJson): Node {
  if (json.fragment !== "caption") throw new Foreign("fragment");
  return schema.nodes.caption!.create(fragmentAttributes(json), readBlocks(json.nodes.map(readBlock)));
}

function readExpandable(fragments: FragmentJson[]): Node[] {
  return ["expandable-title", "expandable-body"].map((name) => {
    const json = fragments.find((each) => each.fragment === name);
    if (json === undefined) throw new Foreign("fragment");
    const type = schema.nodes[name.replace("-", "_")]!;
    return type.create(fragmentAttributes(json), readBlocks(json.nodes.map(readBlock)));
  });
}

type Column = Data & { type: string };

function readTable(json: BlockJson): Node {
  const data = json.data as {
    view: Data & { columns: string[] };
    definition: Record<string, Column>;
    records: Record<string, { orderIndex: string; values: Data }>;
  };
  const { columns, ...view } = data.view;
  const { definition, records, ...others } = data;
  const shown = columns.filter((id) => id in definition);
  const fragments = new Map((json.fragments ?? []).map((each) => [each.fragment, each]));
  const headings = shown.map((id) => {
    const { id: _, title, ...column } = definition[id]!;
    return schema.nodes.table_heading!.create({ id, column }, title ? schema.text(title as string) : null);
  });
  if (!headings.length) throw new Foreign("columns");
  const rows = Object.entries(records)
    .sort(([, one], [, other]) => (one.orderIndex < other.orderIndex ? -1 : 1))
    .map(([id, record]) => {
      const values = { ...record.values };
      const cells = shown.map((column) => {
        const value = values[column] ?? null;
        delete values[column];
        const fragment = typeof value === "string" ? fragments.get(value) : undefined;
        if (fragment !== undefined) {
          fragments.delete(value as string);
          const attrs = fragmentAttributes(fragment);
          return schema.nodes.table_cell!.create(attrs, readBlocks(fragment.nodes.map(readBlock)));
        }
        if (value === null && definition[column]!.type === "text") return absentCell();
        return schema.nodes.table_value!.create({ value });
      });
      return schema.nodes.table_row!.create({ id, order: record.orderIndex, values }, cells);
    });
  const hidden = Object.fromEntries(Object.entries(definition).filter(([id]) => !shown.includes(id)));
  return blockType("table").create(
    {
      ...attributes(json),
      data: { ...others, view },
      hidden,
      rest: [...fragments.values()] as unknown as Json,
    },
    [schema.nodes.table_head!.create(null, headings), ...rows],
  );
}

/** A cell for which the row has no value. It exists only while it is empty. */
function absentCell(): Node {
  return schema.nodes.table_cell!.create({ absent: true }, schema.nodes.paragraph!.create());
}

function readInlines(nodes: (TextJson | InlineJson)[], around: readonly Mark[]): Node[] {
  const found: Node[] = [];
  for (const node of nodes) {
    if (node.object === "text") {
      for (const leaf of node.leaves) readLeaf(leaf, around, found);
    } else if (node.type in table.inlines && (node.type === "link" || node.type === "annotation")) {
      const mark = schema.marks[node.type]!.create({
        uid: uid(),
        ...attributes(node),
        fragments: (node.fragments ?? []) as unknown as Json,
      });
      if (node.nodes?.length) found.push(...readInlines(node.nodes, mark.addToSet(around)));
      else found.push(schema.nodes.held!.create({ json: node }, null, around));
    } else if (node.type in table.inlines) {
      const data = node.type === "button" ? flattened(node.data ?? {}) : node.data;
      found.push(inlineType(node.type).create(attributes({ ...node, data }), null, around));
    } else {
      found.push(schema.nodes.held!.create({ json: node }, null, around));
    }
  }
  return found;
}

/** Return the data of a button with the text of its action as fields, as its settings edit it. */
function flattened(data: Data): Data {
  const { action, ...others } = data;
  return typeof action === "object" && action !== null && !Array.isArray(action)
    ? { ...others, ...action }
    : data;
}

/** Return the data of a button as the API expects it. */
function withAction(data: Data): Data {
  const { action, query, ...others } = data;
  return action === undefined && query === undefined
    ? others
    : { ...others, action: { action: action ?? "search", query: query ?? "" } };
}

const RANK = new Map(Object.keys(schema.marks).map((type, at) => [type, at]));

function readLeaf(leaf: LeafJson, around: readonly Mark[], found: Node[]): void {
  const given = leaf.marks ?? [];
  const usual = given.every((mark, at) => !at || RANK.get(given[at - 1]!.type)! < RANK.get(mark.type)!);
  let marks = around;
  given.forEach((mark, place) => {
    const type = schema.marks[mark.type];
    if (type === undefined) throw new Foreign(mark.type);
    marks = type.create({ ...mark.data, at: usual ? null : place }).addToSet(marks);
  });
  leaf.text.split("\n").forEach((line, at) => {
    if (at) found.push(schema.nodes.hard_break!.create(null, null, marks));
    if (line) found.push(schema.text(line, marks));
  });
}

// --- and back ----------------------------------------------------------------------------------------------

const written = new WeakMap<Node, BlockJson>();

/** Return the blocks of a page as the API expects them. Empty paragraphs belong to the editor and are left out. */
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

/** Return whether a block is written: a paragraph without text is only a place to type. */
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

/** Name the parts of a table: existing parts keep their names; new and copied ones get unused names. */
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

export function childrenOf(node: Node | Fragment): Node[] {
  const found: Node[] = [];
  node.forEach((child) => found.push(child));
  return found;
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
      // The mark that spans more is outside. If two have the same length, the one that was read first is outside.
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

// --- comparing ---------------------------------------------------------------------------------------------

/** Return whether two JSON values are equal. The order of keys and of a table's fragments doesn't matter. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length &&
      one.every((each, at) => same(each, other[at]));
  }
  const left = one as Record<string, unknown>;
  const right = other as Record<string, unknown>;
  const names = Object.keys(left).filter((name) => left[name] !== undefined);
  if (names.length !== Object.keys(right).filter((name) => right[name] !== undefined).length) return false;
  return names.every((name) =>
    name === "fragments" && left.type === "table"
      ? same(byName(left[name]), byName(right[name]))
      : name in right && same(left[name], right[name])
  );
}

function byName(fragments: unknown): Record<string, FragmentJson> {
  return Object.fromEntries(((fragments ?? []) as FragmentJson[]).map((each) => [each.fragment, each]));
}
