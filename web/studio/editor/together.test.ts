/** Three to five people edit one page: random edits over a network that loses and duplicates messages. */
import { lift, setBlockType, toggleMark, wrapIn } from "prosemirror-commands";
import { history, redo, undo } from "prosemirror-history";
import { Fragment, type Node, Slice } from "prosemirror-model";
import { sinkListItem, splitListItem } from "prosemirror-schema-list";
import { type Command, EditorState, NodeSelection, TextSelection, type Transaction } from "prosemirror-state";
import {
  AttrStep,
  canJoin,
  canSplit,
  Mapping,
  ReplaceAroundStep,
  ReplaceStep,
  Step,
  Transform,
} from "prosemirror-transform";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { childrenOf } from "../document/building.ts";
import { uid } from "../document/building.ts";
import { newKey, schema } from "../document/schema.ts";
import { uniqueKeys } from "./blockkeys.ts";
import { moveBlock } from "./blocks.ts";
import { leaveColumns, putBeside } from "./columns.ts";
import { followed, replaceTop } from "./difference.ts";
import { cellPosition } from "./grid.ts";
import { deleteColumns, insertColumn, insertRow, moveColumns, moveRows, sortRows } from "./tablecommands.ts";
import { type Batch, type Kept, REMOTE, type Rescue, type Sending, Together } from "./together.ts";

/** The number of seeds in `make test`. OCTAVO_SEEDS=10000 runs more, and OCTAVO_SEED=17 starts with seed 17. */
const SEEDS = Number(process.env.OCTAVO_SEEDS ?? 40);
const FIRST = Number(process.env.OCTAVO_SEED ?? 1);

// --- randomness and time -----------------------------------------------------------------------------------------

let random: () => number;

function seed(a: number): void {
  random = () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const int = (most: number): number => Math.floor(random() * most);
const chance = (share: number): boolean => random() < share;

/** Scheduled events by time. */
class Clock {
  now = 0;
  #due: { at: number; number: number; what: () => void }[] = [];
  #number = 0;

  after(wait: number, what: () => void): void {
    const each = { at: this.now + wait, number: this.#number++, what };
    let at = this.#due.length;
    while (at && this.#due[at - 1]!.at > each.at) at--;
    this.#due.splice(at, 0, each);
  }

  run(until: number): void {
    while (this.#due.length && this.now < until) {
      const { at, what } = this.#due.shift()!;
      this.now = at;
      what();
    }
  }
}

// --- the page ------------------------------------------------------------------------------------------------

const make = (type: string, content: Node | Node[] | string | null = null, attrs = {}): Node =>
  schema.nodes[type]!.create(
    "key" in (schema.nodes[type]!.spec.attrs ?? {}) ? { key: newKey(), ...attrs } : attrs,
    typeof content === "string" ? (content ? schema.text(content) : null) : content,
  );

const paragraph = (text: string): Node => make("paragraph", text);

function start(): Node {
  const row = (...texts: string[]): Node =>
    make("table_row", texts.map((text) => make("table_cell", [paragraph(text)])), {});
  const found = make("doc", [
    paragraph("The first paragraph is that everyone edits at once."),
    paragraph("The second one has a link and code in it. 😀 Odd spacing stays."),
    make("heading_2", "A heading"),
    make("list_unordered", [
      make("list_item", [paragraph("An item")]),
      make("list_item", [paragraph("Another"), paragraph("with a second paragraph")]),
    ]),
    make("list_ordered", [make("list_item", [paragraph("first")]), make("list_item", [paragraph("second")])]),
    make("blockquote", [paragraph("A quotation"), paragraph("in two")]),
    make("hint", [paragraph("A hint with words.")]),
    make("code_block", [make("code_line", 'print("hello")'), make("code_line", "x = 1")]),
    make("table", [
      make("table_head", [make("table_heading", "Name"), make("table_heading", "Value")]),
      row("one", "1"),
      row("two", "2"),
      row("three", "3"),
    ], { data: { view: {} } }),
    make("expandable", [
      make("expandable_title", [paragraph("More to read")]),
      make("expandable_body", [paragraph("Inside of it.")]),
    ]),
    paragraph("Last words"),
  ]);
  found.check();
  return found;
}

/** Letters that are each typed only once, so that it can be checked what happened to each. */
class Letters {
  typed = new Map<string, string>();
  deleted = new Set<string>();
  /** Letters that someone has already deleted. Deleting them again isn't recorded. */
  deletedBy = new Map<string, Set<string>>();

  type(client: string): string {
    const number = this.typed.size + 1;
    const code = number % 12 === 0 ? 0x20000 + number : 0x4e00 + number;
    const found = String.fromCodePoint(code);
    this.typed.set(found, client);
    return found;
  }

  in(doc: Node): Map<string, number> {
    const found = new Map<string, number>();
    let text = "";
    doc.descendants((node) => void (text += node.text ?? JSON.stringify(node.attrs.data ?? "")));
    for (const each of text) {
      if (this.typed.has(each)) found.set(each, (found.get(each) ?? 0) + 1);
    }
    return found;
  }

  /** Record what an edit deleted, because its author saw it. Undo and redo delete only the person's own text or text
   * that was deleted before. */
  edited(client: string, before: Node, after: Node, again: boolean): void {
    const own = this.deletedBy.get(client) ?? new Set();
    this.deletedBy.set(client, own);
    const left = this.in(after);
    for (const [letter, times] of this.in(before)) {
      if ((left.get(letter) ?? 0) >= times) continue;
      if (again && this.typed.get(letter) !== client && !own.has(letter)) continue;
      this.deleted.add(letter);
      own.add(letter);
    }
  }
}

// --- 20 kinds of edits ---------------------------------------------------------------------------------------

type Edit = (state: EditorState, type: () => string, client: string) => Transaction | undefined;

function textsOf(doc: Node): { node: Node; pos: number }[] {
  const found: { node: Node; pos: number }[] = [];
  doc.descendants((node, pos) => {
    if (node.isTextblock && node.type.name !== "table_heading") found.push({ node, pos });
  });
  return found;
}

function pick(state: EditorState): { node: Node; pos: number } {
  const all = textsOf(state.doc);
  return all[int(chance(0.45) ? Math.min(2, all.length) : all.length)]!;
}

/** Return an offset that doesn't split a surrogate pair, because editors never do that. */
function boundary(node: Node, offset: number): number {
  const at = Math.min(offset, node.content.size);
  const code = node.textBetween(0, node.content.size, undefined, "\ufffc").charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

function anywhere({ node, pos }: { node: Node; pos: number }): number {
  return pos + 1 + boundary(node, int(node.content.size + 1));
}

/** Return two positions in a block that are at most this far apart. */
function span({ node, pos }: { node: Node; pos: number }, most: number): [number, number] | undefined {
  if (node.content.size < 2) return undefined;
  const from = boundary(node, int(node.content.size - 1));
  return [pos + 1 + from, pos + 1 + boundary(node, from + 1 + int(most))];
}

function select(state: EditorState, from: number, to = from): EditorState {
  return state.apply(state.tr.setSelection(TextSelection.create(state.doc, from, to)));
}

function run(command: Command, state: EditorState): Transaction | undefined {
  let made: Transaction | undefined;
  command(state, (transaction) => (made = transaction));
  return made;
}

function within(state: EditorState, parent: string): { node: Node; pos: number } | undefined {
  const found = textsOf(state.doc).filter(({ pos }) => state.doc.resolve(pos).parent.type.name === parent);
  return found[int(found.length)];
}

function topAt(doc: Node, number: number): number {
  return childrenOf(doc).slice(0, number).reduce((sum, node) => sum + node.nodeSize, 0);
}

const MARKS = ["bold", "italic", "code"];

const EDITS: Record<string, [weight: number, edit: Edit]> = {
  type: [50, (state, type) => {
    const transaction = state.tr;
    let place = anywhere(pick(state));
    for (let left = 1 + int(4); left > 0; left--) {
      const letter = type();
      transaction.insertText(letter, place);
      place += letter.length;
    }
    return transaction;
  }],
  "delete letters": [10, (state) => {
    const range = span(pick(state), 4);
    return range && state.tr.delete(...range);
  }],
  "type over": [6, (state, type) => {
    const range = span(pick(state), 3);
    return range && state.tr.insertText(type(), ...range);
  }],
  "delete over blocks": [3, (state) => {
    const all = textsOf(state.doc);
    const number = int(all.length - 1);
    if (state.doc.content.size < 200) return undefined;
    return state.tr.deleteRange(anywhere(all[number]!), anywhere(all[number + 1]!));
  }],
  split: [7, (state) => {
    const at = anywhere(pick(state));
    return canSplit(state.doc, at) ? state.tr.split(at) : undefined;
  }],
  join: [6, (state) => {
    const all = textsOf(state.doc);
    const { pos } = all[int(Math.min(all.length, 6))]!;
    const isText = state.doc.resolve(pos).nodeBefore?.isTextblock;
    return isText && canJoin(state.doc, pos) ? state.tr.join(pos) : undefined;
  }],
  "delete block": [3, (state) => {
    if (state.doc.childCount < 6) return undefined;
    const number = int(state.doc.childCount);
    const at = topAt(state.doc, number);
    return state.tr.delete(at, at + state.doc.child(number).nodeSize);
  }],
  "move block": [4, (state) => {
    const [from, to] = [int(state.doc.childCount), int(state.doc.childCount)];
    if (from === to) return undefined;
    const node = state.doc.child(from);
    const at = topAt(state.doc, from);
    const transaction = state.tr.delete(at, at + node.nodeSize);
    return transaction.insert(transaction.mapping.map(topAt(state.doc, to)), node);
  }],
  "block type": [4, (state) => {
    const { node, pos } = pick(state);
    if (state.doc.resolve(pos).depth > 0) return undefined;
    const type = schema.nodes[node.type.name === "paragraph" ? "heading_2" : "paragraph"]!;
    return run(setBlockType(type, { key: node.attrs.key }), select(state, pos + 1));
  }],
  mark: [5, (state) => {
    const range = span(pick(state), 3);
    return range && run(toggleMark(schema.marks[MARKS[int(3)]!]!), select(state, ...range));
  }],
  link: [3, (state) => {
    const range = span(pick(state), 3);
    const data = { ref: { kind: "url", url: `https://a.example/${int(99)}` } };
    return range && state.tr.addMark(...range, schema.marks.link!.create({ uid: uid(), data }));
  }],
  attribute: [4, (state, type, client) => {
    const found: number[] = [];
    state.doc.descendants((node, pos) => {
      if (["code_block", "hint", "heading_2"].includes(node.type.name)) found.push(pos);
    });
    const pos = found[int(found.length)];
    if (pos === undefined) return undefined;
    const { data } = state.doc.nodeAt(pos)!.attrs;
    return state.tr.setNodeAttribute(pos, "data", { ...data, n: int(99), [client]: type() });
  }],
  wrap: [3, (state) => {
    const { pos } = pick(state);
    if (state.doc.resolve(pos).depth > 0) return undefined;
    return run(wrapIn(schema.nodes.blockquote!), select(state, pos + 1));
  }],
  lift: [3, (state) => {
    const found = within(state, "blockquote");
    return found && run(lift, select(state, found.pos + 1));
  }],
  "list item": [3, (state) => {
    const found = within(state, "list_item");
    const item = schema.nodes.list_item!;
    return found &&
      run(chance(0.5) ? splitListItem(item) : sinkListItem(item), select(state, anywhere(found)));
  }],
  "table row": [3, (state) => {
    const rows: { node: Node; pos: number }[] = [];
    state.doc.descendants((node, pos) => {
      if (node.type.name === "table_row") rows.push({ node, pos });
      return !node.isTextblock;
    });
    const row = rows[int(rows.length)];
    if (!row) return undefined;
    const end = row.pos + row.node.nodeSize;
    if (rows.length > 3 && chance(0.4)) return state.tr.delete(row.pos, end);
    const empty = (): Node =>
      schema.nodes.table_cell!.create({ absent: true }, schema.nodes.paragraph!.create());
    return state.tr.insert(end, schema.nodes.table_row!.create(null, childrenOf(row.node).map(empty)));
  }],
  "move in table": [4, (state) => {
    const tables: { node: Node; pos: number }[] = [];
    state.doc.descendants((node, pos) => {
      if (node.type.name === "table") tables.push({ node, pos });
      return !node.isTextblock;
    });
    const table = tables[int(tables.length)];
    if (!table) return undefined;
    const { node, pos } = table;
    const [row, column] = [int(node.childCount), int(node.firstChild!.childCount)];
    const by = chance(0.5) ? 1 : -1;
    if (chance(0.1)) return run(sortRows(node, pos, column, chance(0.5)), state);
    return run(
      chance(0.7) ? moveRows(node, pos, row, row, by) : moveColumns(node, pos, column, column, by),
      state,
    );
  }],
  "side by side": [4, (state) => {
    const blocks: number[] = [];
    state.doc.descendants((node, pos) => {
      if (node.type.isInGroup("block")) blocks.push(pos);
      return !node.isTextblock;
    });
    const [from, target] = [blocks[int(blocks.length)]!, blocks[int(blocks.length)]!];
    return chance(0.3)
      ? run(
        leaveColumns(chance(0.5) ? 1 : -1),
        state.apply(state.tr.setSelection(NodeSelection.create(state.doc, from))),
      )
      : run(putBeside(from, target, chance(0.5) ? "before" : "after"), state);
  }],
  paste: [4, (state, type) => {
    const words = (): Node => schema.nodes.paragraph!.create(null, schema.text(type() + type() + type()));
    const slice = new Slice(Fragment.from([words(), words(), words()]), 1, 1);
    return select(state, anywhere(pick(state))).tr.replaceSelection(slice);
  }],
  undo: [5, (state) => run(undo, state)],
  // Any other edit clears the redo history.
  redo: [15, (state) => run(redo, state)],
};

const [MOST_ROWS, MOST_COLUMNS] = [12, 6];

/** Edits of a table in which each cell has the title of its column. */
const EDITS_OF_COLUMNS: typeof EDITS = {
  "row with words": [10, (state) => {
    const { table, pos } = firstTable(state.doc);
    if (table.childCount > MOST_ROWS) return undefined;
    const cells = childrenOf(table.firstChild!).map((heading) =>
      make("table_cell", paragraph(chance(0.7) ? heading.textContent : ""), { col: heading.attrs.col })
    );
    const number = 1 + int(table.childCount);
    const at = cellPosition(table, pos, number, 0) - 1;
    return state.tr.insert(at, schema.nodes.table_row!.create(null, cells));
  }],
  "row, then words": [10, (state) => {
    const { table, pos } = firstTable(state.doc);
    return table.childCount > MOST_ROWS
      ? undefined
      : run(insertRow(table, pos, 1 + int(table.childCount)), state);
  }],
  word: [20, (state) => {
    const { table, pos } = firstTable(state.doc);
    const [row, column] = [int(table.childCount), int(table.firstChild!.childCount)];
    const cell = row ? table.child(row).child(column) : undefined;
    if (cell?.childCount !== 1 || cell.textContent) return undefined;
    const at = cellPosition(table, pos, row, column) + 2;
    // Until the server has put cells in order, they can be below another heading.
    const title = childrenOf(table.firstChild!).find(({ attrs }) => attrs.col === cell.attrs.col)
      ?.textContent;
    return title ? state.tr.insertText(title, at) : undefined;
  }],
  letter: [5, (state, type) => state.tr.insertText(type(), 1)],
  "new column": [4, (state, type) => {
    const { table, pos } = firstTable(state.doc);
    if (table.firstChild!.childCount > MOST_COLUMNS) return undefined;
    const column = int(table.firstChild!.childCount + 1);
    const made = run(insertColumn(table, pos, column), state)!;
    return made.insertText(type(), cellPosition(made.doc.nodeAt(pos)!, pos, 0, column) + 1);
  }],
  "move column": [5, (state) => {
    const { table, pos } = firstTable(state.doc);
    const column = int(table.firstChild!.childCount);
    return run(moveColumns(table, pos, column, column, chance(0.5) ? 1 : -1), state);
  }],
  "delete column": [2, (state) => {
    const { table, pos } = firstTable(state.doc);
    const count = table.firstChild!.childCount;
    const column = int(count);
    return count < 3 ? undefined : run(deleteColumns(table, pos, column, column), state);
  }],
  "move row": [3, (state) => {
    const { table, pos } = firstTable(state.doc);
    const row = int(table.childCount);
    return run(moveRows(table, pos, row, row, chance(0.5) ? 1 : -1), state);
  }],
};

function firstTable(doc: Node): { table: Node; pos: number } {
  const number = childrenOf(doc).findIndex(({ type }) => type.name === "table");
  return { table: doc.child(number), pos: topAt(doc, number) };
}

/** Check that each row has as many cells as there are columns, and that words stand in their column. */
function checkColumns(doc: Node, number: number): void {
  const { table } = firstTable(doc);
  const titles = childrenOf(table.firstChild!).map(({ textContent }) => textContent);
  table.forEach((row, _, index) => {
    // Two people may fill in the same cell.
    const texts = childrenOf(row).map(({ textContent }) => [...new Set(textContent)].join(""));
    // A person may delete a title while another person fills in the column.
    const expected = titles.map((title, at) => index && (!texts[at] || !title) ? texts[at] : title);
    expect(texts, `row ${index}, seed ${number}`).toEqual(expected);
  });
}

/** Make one random edit that changes something. */
function edit(
  state: EditorState,
  client: string,
  { letters, edits }: World,
): { name: string; made: Transaction } {
  const total = Object.values(edits).reduce((sum, [weight]) => sum + weight, 0);
  for (;;) {
    let left = random() * total;
    const [name, [, make]] = Object.entries(edits).find(([, [weight]]) => (left -= weight) < 0)!;
    const typed: string[] = [];
    let made: Transaction | undefined;
    try {
      made = make(state, () => typed[typed.push(letters.type(client)) - 1]!, client);
    } catch (problem) {
      if (!/^(Range|Transform|Replace)Error$/.test((problem as Error).name)) throw problem;
    }
    const there = made?.docChanged ? letters.in(made.doc) : new Map();
    // Rejected text doesn't count as typed.
    for (const letter of typed) if (!there.has(letter)) letters.deleted.add(letter);
    if (made?.docChanged) return { name, made };
  }
}

// --- the server ----------------------------------------------------------------------------------------------

type Answer = { status: number; batches?: Batch[]; index?: number };

/** The order of all batches, determined by the server's rules. */
class Authority {
  version = 0;
  /** The version up to which steps are no longer known. */
  forgotten = 0;
  batches: Batch[] = [];
  readers = new Set<string>();
  #maps: { version: number; step: Step }[] = [];
  #last = new Map<string, number>();
  counts = { taken: 0, mapped: 0, behind: 0, again: 0, refused: 0 };

  constructor(public doc: Node) {}

  since(version: number): Batch[] {
    return this.batches.filter((each) => each.version > version);
  }

  post({ client, batch, attempt, version, steps }: Sending): Answer {
    if (this.readers.has(client.split(" ")[0]!)) return { status: 403 };
    if (version < this.forgotten) return { status: 410 };
    if (batch <= (this.#last.get(client) ?? 0)) {
      this.counts.again++;
      return { status: 200, batches: this.since(version) };
    }
    const isLate = version !== this.version;
    let own: Step[] | undefined = steps.map((each) => Step.fromJSON(schema, each));
    if (isLate) {
      own = clean(own, this.#maps.filter((each) => each.version > version).map(({ step }) => step));
      if (own) this.counts.mapped++;
    }
    if (own) {
      const index = this.take(client, batch, attempt, own);
      if (index === undefined) {
        const { steps } = aligned(this.doc);
        if (steps.length) this.take("server", (this.#last.get("server") ?? 0) + 1, 1, steps);
        return { status: 200, batches: this.since(version) };
      }
      if (!isLate) {
        this.counts.refused++;
        return { status: 422, index };
      }
    }
    this.counts.behind++;
    return { status: 409, batches: this.since(version) };
  }

  /** Apply a batch. If a step doesn't fit, return it and change nothing. */
  take(client: string, batch: number, attempt: number, steps: Step[]): number | undefined {
    let doc = this.doc;
    for (const [index, step] of steps.entries()) {
      try {
        if (step instanceof ReplaceStep && !step.slice.openStart && !step.slice.openEnd) {
          step.slice.content.forEach((node) => node.check());
        }
        const result = step.apply(doc);
        if (result.failed || client.startsWith("person") && cannotApply(step)) return index;
        doc = result.doc!;
      } catch (problem) {
        if (!(problem instanceof RangeError)) throw problem;
        return index;
      }
    }
    this.doc = doc;
    for (const step of steps) this.#maps.push({ version: ++this.version, step });
    const json = steps.map((step) => step.toJSON());
    const user = client.split(" ")[0]!;
    this.batches.push({ version: this.version, client, batch, attempt, user, steps: json });
    this.#last.set(client, batch);
    this.counts.taken++;
    return undefined;
  }

  /** Assign a new key to the second of two blocks with the same key, as each save does. */
  save(): void {
    const made = new Transform(this.doc);
    const known = new Set<string>();
    this.doc.descendants((node, pos) => {
      if (node.isBlock && node.attrs.key) {
        if (known.has(node.attrs.key)) made.setNodeAttribute(pos, "key", newKey());
        known.add(node.attrs.key);
      }
      return !node.isTextblock;
    });
    if (made.docChanged) this.take("server", (this.#last.get("server") ?? 0) + 1, 1, made.steps);
  }
}

/** Return whether a step inserts a letter that this server refuses. */
function cannotApply(step: Step): boolean {
  return /[\u4e61\u4ec5\u4f29\u4f8d]/.test(JSON.stringify(step));
}

/** Put the cells of each table in the columns of the headings, as the server does. */
function aligned(doc: Node): Transform {
  const made = new Transform(doc);
  doc.descendants((table, start) => {
    if (table.type.name !== "table") return !table.isTextblock;
    const from = (): number => made.mapping.map(start, 1);
    const now = (): Node => made.doc.nodeAt(from())!;
    const headings = childrenOf(now().firstChild!);
    const kept = new Map<string, number>();
    const gone = new Set<number>();
    headings.forEach(({ attrs: { col }, textContent }, at) => {
      const other = kept.get(col);
      const title = other === undefined ? undefined : headings[other]!.textContent;
      if (other !== undefined && ["", title].includes(textContent)) return void gone.add(at);
      if (title === "") gone.add(other!) && kept.delete(col);
      const key = col === null || title ? newKey() : col;
      if (key !== col) made.setNodeAttribute(cellPosition(now(), from(), 0, at), "col", key);
      kept.set(key, at);
    });
    for (const at of [...gone].sort((one, two) => two - one)) {
      const place = cellPosition(now(), from(), 0, at);
      made.delete(place, place + headings[at]!.nodeSize);
    }
    const heads = [...kept.keys()];
    const below: Node[] = [];
    for (let row = 1; row < now().childCount; row++) {
      const cells = (): Node[] => childrenOf(now().child(row));
      const place = (at: number): number => cellPosition(now(), from(), row, at);
      const missing = heads.filter((head) => !cells().some(({ attrs }) => attrs.col === head));
      cells().forEach(({ attrs }, at) => {
        const col = attrs.col ?? missing.shift();
        if (col && !attrs.col) made.setNodeAttribute(place(at), "col", col);
      });
      heads.forEach((col, at) => {
        const there = cells().findIndex(({ attrs }, number) => number >= at && attrs.col === col);
        const cell = cells()[there];
        if (!cell) {
          made.insert(place(at), make("table_cell", make("paragraph"), { absent: true, col, key: null }));
        } else if (there > at) {
          made.delete(place(there), place(there) + cell.nodeSize).insert(place(at), cell);
        }
      });
      const extra = cells().slice(heads.length);
      if (extra.length) made.delete(place(heads.length), place(heads.length) + Fragment.from(extra).size);
      for (const cell of extra) {
        const kept = cells()[heads.indexOf(cell.attrs.col)];
        if (cell.textContent && cell.textContent !== kept?.textContent) below.push(...childrenOf(cell));
      }
    }
    if (below.length) made.insert(from() + now().nodeSize, below);
    return false;
  });
  return made;
}

/** Map a late batch over newer steps if that is unambiguous, as the server does. */
function clean(steps: Step[], between: Step[]): Step[] | undefined {
  const count = steps.length;
  const endsFields = (step: Step): boolean => {
    let found = step instanceof AttrStep;
    step.getMap().forEach((from, to) => void (found ||= to > from));
    return found;
  };
  if (between.some((step) => step instanceof AttrStep) && steps.some(endsFields)) return undefined;
  const mapping = new Mapping(steps.map((step) => step.getMap().invert()).reverse());
  let unseen: [number, number][] = [];
  const add = (step: Step, mirrored?: number): void => {
    const map = step.getMap();
    mapping.appendMap(map, mirrored);
    unseen = unseen.map(([from, to]) => [map.map(from, 1), map.map(to, -1)]);
    if (mirrored === undefined) map.forEach((_a, _b, from, to) => to > from && unseen.push([from, to]));
  };
  between.forEach((step) => add(step));
  const found: Step[] = [];
  for (const [number, step] of steps.entries()) {
    const mapped = cleanStep(step, mapping.slice(count - number), unseen);
    if (!mapped) return undefined;
    found.push(mapped);
    add(mapped, count - 1 - number);
  }
  return found;
}

function cleanStep(step: Step, mapping: Mapping, unseen: [number, number][]): Step | undefined {
  const { stepType, from, to, gapFrom, gapTo, pos } = step.toJSON();
  const gone = (place: number, side: number): boolean => mapping.mapResult(place, side).deletedAcross;
  const isWhole = (start: number, end: number): boolean => {
    const [now, then] = [mapping.map(start, 1), mapping.map(end, -1)];
    return !gone(start, 1) && !gone(end, -1) && then - now === end - start &&
      !unseen.some(([a, b]) => a < then && b > now);
  };
  if (stepType === "attr") return isWhole(pos, pos + 1) ? step.map(mapping) ?? undefined : undefined;
  if (stepType === "markSet") {
    const parts = step.toJSON().steps.map((each: object) =>
      cleanStep(Step.fromJSON(schema, each), mapping, unseen)
    );
    return parts.every(Boolean) ? step.map(mapping) ?? undefined : undefined;
  }
  if (gone(from, 1)) return undefined;
  if (step instanceof ReplaceStep && from === to) {
    const at = mapping.map(from, 1);
    return ReplaceStep.fromJSON(schema, { ...step.toJSON(), from: at, to: at });
  }
  if (gone(to, -1)) return undefined;
  if (step instanceof ReplaceAroundStep) {
    if (gone(gapFrom, -1) || gone(gapTo, 1)) return undefined;
    if (gapFrom > from && !isWhole(from, gapFrom) || gapTo < to && !isWhole(gapTo, to)) return undefined;
    const json = { ...step.toJSON(), from: mapping.map(from, 1), to: mapping.map(to, -1) };
    json.gapFrom = gapFrom === from ? json.from : mapping.map(gapFrom, -1);
    json.gapTo = gapTo === to ? json.to : mapping.map(gapTo, 1);
    return json.to < json.from ? undefined : ReplaceAroundStep.fromJSON(schema, json);
  }
  if (step instanceof ReplaceStep && !isWhole(from, to)) return undefined;
  return mapping.map(to, -1) > mapping.map(from, 1) ? step.map(mapping) ?? undefined : undefined;
}

// --- a person ------------------------------------------------------------------------------------------------

interface World {
  clock: Clock;
  server: Authority;
  letters: Letters;
  edits: typeof EDITS;
  quiet: boolean;
  counts: Record<string, number>;
}

class Person {
  together!: Together;
  state!: EditorState;
  isOffline = false;
  isDone = false;
  lost = false;
  aside: Node[] = [];
  #tabs = 1;
  #kept!: { kept: Kept; letters: Set<string> };

  constructor(readonly name: string, private world: World, private edits: number) {
    const { server } = world;
    this.#open(new Together(name, server.version, server.doc, (rescue) => this.#rescued(rescue), name));
    this.#keep();
    this.#write();
    this.#send();
    this.#hear();
  }

  #open(together: Together): void {
    this.together = together;
    this.state = EditorState.create({
      doc: together.doc,
      plugins: [history({ newGroupDelay: 0 }), uniqueKeys()],
    });
  }

  #rescued(rescue: Rescue): void {
    this.#count(rescue.kind);
    if (rescue.kind === "aside") this.aside.push(...rescue.nodes);
  }

  #count(name: string): void {
    this.world.counts[name] = (this.world.counts[name] ?? 0) + 1;
  }

  /** Store the page, as in IndexedDB. Letters that aren't stored are lost with the tab. */
  #keep(): void {
    const kept = JSON.parse(JSON.stringify(this.together.keep())) as Kept;
    this.#kept = { kept, letters: new Set(this.world.letters.typed.keys()) };
  }

  dispatch(transaction: Transaction): void {
    const { state, transactions } = this.state.applyTransaction(transaction);
    for (const each of transactions) if (!each.getMeta(REMOTE)) this.together.written(each);
    this.state = state;
  }

  #write(): void {
    const { clock, letters, quiet } = this.world;
    if (!this.edits || this.lost) {
      this.isDone = true;
      this.isOffline = false;
      return;
    }
    this.edits--;
    const { name, made } = edit(this.state, this.name, this.world);
    this.#count(name);
    const before = this.state.doc;
    const isAgain = name === "undo" || name === "redo";
    this.dispatch(made);
    const spared = this.together.spared(this.state);
    if (spared) {
      this.#count("spared by undo");
      this.dispatch(spared);
    }
    letters.edited(this.name, before, this.state.doc, isAgain);
    if (chance(0.5)) this.#keep();
    if (!quiet && !this.isOffline && chance(0.015)) {
      this.#count("cut");
      this.isOffline = true;
      clock.after(500 + int(chance(0.2) ? 60_000 : 3000), () => (this.isOffline = false));
    }
    if (!quiet && chance(0.012)) this.#kill();
    clock.after(int(chance(0.1) ? 400 : 30), () => this.#write());
  }

  #kill(): void {
    const { letters, server } = this.world;
    this.#count("tab killed");
    const { kept, letters: known } = this.#kept;
    for (const [letter, by] of letters.typed) {
      if (by === this.name && !known.has(letter)) letters.deleted.add(letter);
    }
    // The base is the original page with the batches up to the version.
    let doc = firsts.get(server)!;
    for (const { version, steps } of server.batches) {
      if (version <= kept.version) {
        for (const each of steps) doc = Step.fromJSON(schema, each).apply(doc).doc!;
      }
    }
    const tab = `${this.name} ${++this.#tabs}`;
    this.#open(Together.restore(kept, doc, (rescue) => this.#rescued(rescue), tab, this.name));
  }

  #receive(batches: Batch[]): void {
    const transaction = this.together.receive(this.state, batches);
    if (transaction) this.dispatch(transaction);
    if (!this.together.doc.eq(this.state.doc)) throw new Error("What is shown is not what is known.");
  }

  /** Continue from the server's document, because steps are missing. */
  #moved(): void {
    const { server } = this.world;
    this.#count("gone");
    this.dispatch(this.together.moved(this.state, server.version, server.doc));
  }

  #send(): void {
    const { clock, quiet } = this.world;
    clock.after(int(25), () => {
      if (this.lost) return;
      if (this.isOffline) return this.#send();
      const sending = this.together.next();
      if (!sending) return this.isDone ? undefined : this.#send();
      this.#keep();
      const body = JSON.parse(JSON.stringify(sending)) as Sending;
      const { together } = this;
      const answered = (answer: Answer): void => {
        if (this.together !== together) return this.#send();
        if (answer.status === 403) {
          this.lost = true;
          return;
        }
        if (answer.status === 410) this.#moved();
        else if (answer.status === 422) {
          const transaction = together.refused(this.state, answer.index!);
          if (transaction) this.dispatch(transaction);
        } else this.#receive(answer.batches!);
        this.#send();
      };
      this.#post(body, answered);
      // Duplicated by a proxy, or so late that its sender has given up.
      if (!quiet && chance(0.05)) this.#post(body, () => {}, int(2000));
    });
  }

  #post(body: Sending, answered: (answer: Answer) => void, more = 0): void {
    const { clock, server, quiet } = this.world;
    const giveUp = (): void => clock.after(100, () => this.#send());
    clock.after(int(60) + more, () => {
      if (!quiet && !more && chance(0.05)) return giveUp();
      const answer = JSON.parse(JSON.stringify(server.post(body))) as Answer;
      if (!quiet && !more && chance(0.05)) return giveUp();
      clock.after(int(60), () => answered(answer));
    });
  }

  #hear(): void {
    const { clock, server } = this.world;
    clock.after(20 + int(120), () => {
      if (this.lost) return;
      if (!this.isOffline) {
        const { together } = this;
        const batches = JSON.parse(JSON.stringify(server.since(together.version))) as Batch[];
        clock.after(int(60), () => {
          if (this.lost || this.together !== together) return;
          if (this.together.version < server.forgotten) this.#moved();
          else this.#receive(batches);
        });
      }
      if (!this.isDone || this.together.pending.length || this.together.version < server.version) {
        this.#hear();
      }
    });
  }
}

/** The original page, by server. */
const firsts = new WeakMap<Authority, Node>();

/** Edit the page through the API, based on its current state and in the same order. */
function editFromOutside(world: World): void {
  const { server, letters, counts } = world;
  const state = EditorState.create({ doc: server.doc, plugins: [history(), uniqueKeys()] });
  const { name, made } = edit(state, "server", world);
  const after = state.applyTransaction(made).state.doc;
  letters.edited("server", server.doc, after, false);
  const steps = new Transform(server.doc);
  replaceTop(steps, childrenOf(after));
  counts[`outside: ${name}`] = (counts[`outside: ${name}`] ?? 0) + 1;
  const client = `server:${server.version}`;
  // A server creates no steps that it can't apply.
  expect(server.take(client, 1, 1, steps.steps)).toBe(undefined);
}

interface Outcome {
  world: World;
  lost: string[];
  twice: number;
}

function play(number: number, doc = start(), kinds = EDITS): Outcome {
  seed(number);
  const server = new Authority(doc);
  firsts.set(server, doc);
  const clock = new Clock();
  const world: World = {
    clock,
    server,
    letters: new Letters(),
    edits: kinds,
    quiet: chance(0.1),
    counts: {},
  };
  const edits = 25 + int(40);
  const people = Array.from({ length: 3 + int(3) }, (_, at) => new Person(`person-${at}`, world, edits));
  const outside = (): void => {
    if (people.every(({ isDone }) => isDone)) return;
    if (chance(0.5)) server.save();
    else editFromOutside(world);
    clock.after(200 + int(1500), outside);
  };
  clock.after(int(500), outside);
  if (kinds === EDITS) {
    if (chance(0.2)) clock.after(int(1500), () => server.readers.add(people[0]!.name));
    if (chance(0.1)) clock.after(int(2000), () => (server.forgotten = server.version));
  }
  clock.run(1_000_000);
  server.save();
  for (const person of people) {
    if (person.lost) continue;
    const transaction = person.together.receive(person.state, server.since(person.together.version));
    if (transaction) person.dispatch(transaction);
    expect(person.together.pending.length, `${person.name} has sent all, seed ${number}`).toBe(0);
    expect(person.state.doc.eq(server.doc), `${person.name} sees the same, seed ${number}`).toBe(true);
  }
  server.doc.check();
  const keys: string[] = [];
  server.doc.descendants((node) => {
    if (node.isBlock && node.attrs.key) keys.push(node.attrs.key);
  });
  expect(new Set(keys).size, `keys are unique, seed ${number}`).toBe(keys.length);
  const there = world.letters.in(server.doc);
  const kept = new Set(
    people.flatMap(({ aside, lost, state }) => [
      ...aside.flatMap((node) => [...world.letters.in(schema.nodes.doc!.create(null, node)).keys()]),
      ...(lost ? world.letters.in(state.doc).keys() : []),
    ]),
  );
  const lost = [...world.letters.typed.keys()].filter(
    (letter) => !there.has(letter) && !kept.has(letter) && !world.letters.deleted.has(letter),
  );
  return { world, lost, twice: [...there.values()].filter((times) => times > 1).length };
}

beforeEach(() => {
  seed(0);
  vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
    const bytes = array as unknown as Uint8Array;
    for (let at = 0; at < bytes.length; at++) bytes[at] = int(256);
    return array;
  });
});
afterEach(() => vi.restoreAllMocks());

test("no letter is lost, whatever people, networks, and tabs do", { timeout: 86_400_000 }, () => {
  const sum = { seeds: 0, typed: 0, lost: 0, twice: 0, counts: {} as Record<string, number> };
  const bad: string[] = [];
  for (let number = FIRST; number < FIRST + SEEDS; number++) {
    try {
      const { world, lost, twice } = play(number);
      sum.seeds++;
      sum.typed += world.letters.typed.size;
      sum.lost += lost.length;
      sum.twice += twice;
      for (const counts of [world.counts, world.server.counts]) {
        for (const [name, count] of Object.entries(counts)) {
          sum.counts[name] = (sum.counts[name] ?? 0) + count;
        }
      }
      if (lost.length) bad.push(`seed ${number}: ${lost.length} letters lost`);
    } catch (problem) {
      bad.push(`seed ${number}: ${(problem as Error).stack}`);
    }
    if (SEEDS > 1000 && number % 500 === 0) console.log(number, sum.typed, sum.lost, bad.length);
  }
  if (SEEDS > 40) console.log(JSON.stringify(sum));
  expect(bad.join("\n")).toBe("");
});

test(
  "words in tables stay in their columns, whatever happens to rows and columns",
  { timeout: 86_400_000 },
  () => {
    const bad: string[] = [];
    for (let number = FIRST; number < FIRST + SEEDS; number++) {
      try {
        const cell = (col: string) => make("table_cell", [paragraph(col)], { col });
        const titles = ["甲", "乙", "丙"];
        const table = make("table", [
          make("table_head", titles.map((col) => make("table_heading", col, { col })), {}),
          make("table_row", titles.map(cell), {}),
        ], { data: { view: {} } });
        const { world, lost } = play(number, make("doc", [paragraph("Above."), table], {}), EDITS_OF_COLUMNS);
        checkColumns(world.server.doc, number);
        if (lost.length) bad.push(`seed ${number}: ${lost.length} letters lost`);
      } catch (problem) {
        bad.push(`seed ${number}: ${(problem as Error).stack}`);
      }
    }
    expect(bad.join("\n")).toBe("");
  },
);

/** Return what one person sees, and the pending changes. */
function person(...blocks: Node[]): { together: Together; state: EditorState; rescues: Rescue[] } {
  const doc = schema.nodes.doc!.create(null, blocks);
  const rescues: Rescue[] = [];
  return {
    together: new Together("me", 0, doc, (each) => rescues.push(each), "me"),
    state: EditorState.create({ doc }),
    rescues,
  };
}

function from(step: Step, client = "other"): Batch {
  return { version: 1, client, batch: 1, attempt: 1, user: client, steps: [step.toJSON()] };
}

test("a deleted paragraph returns with text typed in it, and names who deleted it", () => {
  const { together, state, rescues } = person(paragraph("one"), paragraph("two"));
  const typed = state.tr.insertText("!", 9);
  together.written(typed);
  const here = state.apply(typed);
  const after = here.apply(together.receive(here, [from(new ReplaceStep(5, 10, Slice.empty))])!);
  expect(childrenOf(after.doc).map((node) => node.textContent)).toEqual(["one", "two!"]);
  expect(rescues).toMatchObject([{ kind: "restored", by: "other" }]);
});

test.each([
  ["Words q1z q2z q3 are.", 16, "Words q3 q1z q2z are.", 8],
  ["Words q3 are.", 8, "More Words of others q3 are.", 23],
  ["Words are.", 6, "Many more words. Words are.", 23],
  ["Words are.", 6, "Words are more.", 6],
])("the caret stays with its word in a block that is moved and changed: %s", (was, offset, now, expected) => {
  const block = paragraph(was);
  const doc = schema.nodes.doc!.create(null, [block, paragraph("two")]);
  const state = EditorState.create({ doc, selection: TextSelection.create(doc, 1 + offset) });
  const changed = block.copy(Fragment.from(schema.text(now)));
  const moved = state.tr.delete(0, block.nodeSize).insert(5, changed);
  expect(followed(state, moved, moved.mapping).head - 6).toBe(expected);
});

test("a word that is being typed isn't split by text that came in at the same place", () => {
  const { together, state } = person(paragraph("Words she"), paragraph("two"));
  let here = state;
  for (const [number, letter] of [..."ll"].entries()) {
    const typed = here.tr.insertText(letter, 10 + number);
    together.written(typed);
    here = here.apply(typed);
  }
  const others = new ReplaceStep(10, 10, new Slice(Fragment.from(schema.text(" of others")), 0, 0));
  const after = here.apply(together.receive(here, [from(others)])!);
  expect(after.doc.firstChild!.textContent).toBe("Words shell of others");
  expect(together.doc.eq(after.doc)).toBe(true);
});

test("restored text stays whole and splits no other text", () => {
  const at = paragraph("Some words that stand here.");
  const { together, state, rescues } = person(at, paragraph("two"));
  let here = state;
  for (const letter of " very") {
    const typed = here.tr.insertText(letter, 11 + here.doc.content.size - state.doc.content.size);
    together.written(typed);
    here = here.apply(typed);
  }
  expect(here.doc.firstChild!.textContent).toBe("Some words very that stand here.");
  // Someone else moved the paragraph and rewrote it except for the start of a word.
  const now = at.copy(Fragment.from(schema.text("Some wonders are there")));
  const moved = new Transform(state.doc);
  moved.delete(0, at.nodeSize).insert(5, now);
  const batch = { ...from(moved.steps[0]!), version: 2, steps: moved.steps.map((step) => step.toJSON()) };
  const after = here.apply(together.receive(here, [batch])!);
  expect(childrenOf(after.doc).map((node) => node.textContent)).toEqual([
    "two",
    "Some wonders very are there",
  ]);
  expect(rescues).toEqual([]);
});

test.each([1, 2, 3, 4])(
  "a word stays whole if %i of its letters were sent before its block moved",
  (sent) => {
    const at = paragraph("Words of a step.");
    const { together, state } = person(at, paragraph("two"));
    let here = state;
    [..." q28z"].forEach((letter, number) => {
      if (number === sent) together.next();
      const typed = here.tr.insertText(letter, 11 + number);
      together.written(typed);
      here = here.apply(typed);
    });
    // Someone else moved the paragraph, and wrote at its start, at the same place, and at its end.
    const now = at.copy(Fragment.from(schema.text("New words of a q59z q64z full step. More words.")));
    const moved = new Transform(state.doc);
    moved.delete(0, at.nodeSize).insert(5, now);
    const batch = { ...from(moved.steps[0]!), version: 2, steps: moved.steps.map((step) => step.toJSON()) };
    const after = here.apply(together.receive(here, [batch])!);
    expect(after.doc.lastChild!.textContent).toContain(" q28z");
    expect(together.doc.eq(after.doc)).toBe(true);
  },
);

test("text typed in a column heading returns in one piece when the table was deleted", () => {
  const head = make("table_head", [make("table_heading", "Name"), make("table_heading", "Value")]);
  const cells = make("table_row", [
    make("table_cell", [paragraph("a")]),
    make("table_cell", [paragraph("b")]),
  ]);
  const table = make("table", [head, cells]);
  const { together, state, rescues } = person(paragraph("one"), table);
  let here = state;
  [..." q28z"].forEach((letter, number) => {
    const typed = here.tr.insertText(letter, 12 + number);
    together.written(typed);
    here = here.apply(typed);
  });
  const gone = from(new ReplaceStep(5, 5 + table.nodeSize, Slice.empty));
  const after = here.apply(together.receive(here, [gone])!);
  expect(childrenOf(after.doc).map((node) => node.textContent)).toEqual(["one", "Name q28z"]);
  expect(rescues.length).toBe(1);
});

test("text typed after Enter stays behind its paragraph when that is moved", () => {
  const at = paragraph("Words here.");
  const { together, state } = person(at, paragraph("two"));
  let here = state;
  const write = (transaction: Transaction): void => {
    together.written(transaction);
    here = here.apply(transaction);
  };
  write(here.tr.split(12));
  write(here.tr.setNodeAttribute(13, "key", newKey()));
  for (const [number, letter] of [..."cd"].entries()) write(here.tr.insertText(letter, 14 + number));
  const moved = new Transform(state.doc);
  moved.delete(0, at.nodeSize).insert(5, at.copy(Fragment.from(schema.text("Words here. More"))));
  const batch = { ...from(moved.steps[0]!), version: 2, steps: moved.steps.map((step) => step.toJSON()) };
  const after = here.apply(together.receive(here, [batch])!);
  const texts = childrenOf(after.doc).map((node) => node.textContent);
  expect(texts).toEqual(["two", "Words here. More", "cd"]);
});

test("fields of a block that two people set at once are merged", () => {
  const image = make("image", null, { data: { alt: "", width: "50%" } });
  const doc = make("doc", [make("images", [image]), paragraph("Below.")], {});
  let state = EditorState.create({ doc });
  const together = new Together("client-a", 0, doc);
  const resize = state.tr.setNodeAttribute(1, "data", { alt: "", width: "80%" });
  together.written(resize);
  state = state.apply(resize);
  const described = new AttrStep(1, "data", { alt: "Typed words", width: "50%" }).toJSON();
  const batch = { version: 1, client: "client-b", batch: 1, attempt: 1, user: "b", steps: [described] };
  state = state.apply(together.receive(state, [batch])!);
  expect(state.doc.child(0).child(0).attrs.data).toEqual({ alt: "Typed words", width: "80%" });
  expect(together.doc.eq(state.doc)).toBe(true);
});

test("undo resets only own fields of a block", () => {
  const image = make("image", null, { data: { alt: "", width: "50%" } });
  const doc = make("doc", [make("images", [image]), paragraph("Below.")], {});
  let state = EditorState.create({ doc, plugins: [history()] });
  const together = new Together("client-a", 0, doc, () => {}, "a");
  const write = (transaction: Transaction) => {
    state = state.apply(transaction);
    if (transaction.getMeta(REMOTE)) return;
    together.written(transaction);
    const spared = together.spared(state);
    if (spared) write(spared);
  };
  write(state.tr.setNodeAttribute(1, "data", { alt: "", width: "80%" }));
  const { client, batch, attempt, steps } = together.next()!;
  together.receive(state, [{ client, batch, attempt, steps, version: 1, user: "a" }]);
  const described = new AttrStep(1, "data", { alt: "Typed words", width: "80%" }).toJSON();
  write(
    together.receive(state, [{
      version: 2,
      client: "b",
      batch: 1,
      attempt: 1,
      user: "b",
      steps: [described],
    }])!,
  );
  const data = () => state.doc.child(0).child(0).attrs.data;
  undo(state, write);
  expect(data()).toEqual({ alt: "Typed words", width: "50%" });
  redo(state, write);
  expect(data()).toEqual({ alt: "Typed words", width: "80%" });
  expect(together.doc.eq(state.doc)).toBe(true);
  // Blocks without data aren't confused.
  write(state.tr.setNodeAttribute(4, "data", { align: "right" }));
  write(state.tr.insert(0, paragraph("Above.")).setMeta("addToHistory", false));
  write(state.tr.setNodeAttribute(0, "data", { align: "center" }));
  undo(state, write);
  undo(state, write);
  expect([state.doc.child(0).attrs.data, state.doc.child(2).attrs.data]).toEqual([{}, {}]);
});

test("options that two people add to a column at once are both there", () => {
  const options = (...labels: string[]) => ({ type: "select", options: labels.map((label) => ({ label })) });
  const heading = (column: object) => schema.nodes.table_heading!.create({ column });
  const table = make("table", [make("table_head", [heading(options("one"))])]);
  const doc = make("doc", [table], {});
  let state = EditorState.create({ doc });
  const together = new Together("client-a", 0, doc);
  const own = state.tr.setNodeAttribute(2, "column", options("one", "own"));
  together.written(own);
  state = state.apply(own);
  const theirs = new AttrStep(2, "column", options("one", "theirs")).toJSON();
  const batch = { version: 1, client: "client-b", batch: 1, attempt: 1, user: "b", steps: [theirs] };
  state = state.apply(together.receive(state, [batch])!);
  expect(state.doc.child(0).child(0).child(0).attrs.column).toEqual(options("one", "theirs", "own"));
});

test("words typed in a field of a block return with it if it was deleted", () => {
  const doc = make("doc", [make("math", null, { data: { formula: "" } }), paragraph("Below.")], {});
  let state = EditorState.create({ doc });
  const rescued: Rescue[] = [];
  const together = new Together("client-a", 0, doc, (each) => rescued.push(each));
  const own = state.tr.setNodeAttribute(0, "data", { formula: "x = y" });
  together.written(own);
  state = state.apply(own);
  const theirs = new ReplaceStep(0, 1, Slice.empty).toJSON();
  const batch = { version: 1, client: "client-b", batch: 1, attempt: 1, user: "b", steps: [theirs] };
  state = state.apply(together.receive(state, [batch])!);
  expect(state.doc.children.map(({ attrs }) => attrs.data.formula)).toContain("x = y");
  expect(rescued).toMatchObject([{ kind: "restored", by: "b" }]);
});

test("text whose confirmation got lost doesn't appear twice once the steps have expired", () => {
  const doc = make("doc", [paragraph("Here.")], {});
  let state = EditorState.create({ doc });
  const together = new Together("client-a", 0, doc);
  const own = state.tr.insertText("Typed. ", 1);
  together.written(own);
  together.next();
  state = state.apply(own);
  const restored = Together.restore(together.keep(), doc, undefined, "client-b");
  state = state.apply(restored.moved(state, 50, state.doc));
  expect([state.doc.textContent, restored.pending.length, restored.version]).toEqual(["Typed. Here.", 0, 50]);
});

test("a step that the server cannot apply is undone, and its text is set aside", () => {
  const { together, state, rescues } = person(paragraph("one"));
  const typed = state.tr.insertText("x", 4).insertText("y", 5);
  together.written(typed);
  expect(together.next()!.steps.length).toBe(2);
  const here = state.apply(typed);
  expect(here.apply(together.refused(here, 0)!).doc.textContent).toBe("oney");
  expect(rescues).toMatchObject([{ kind: "aside", why: "step-refused" }]);
});

test("a deletion keeps own text that was inserted in its range", () => {
  const { together, state } = person(paragraph("tY"), paragraph("end"));
  // Someone else deletes what was between V and W, so V is placed after W.
  const typed = state.tr.insertText("W", 3).insertText("V", 2).delete(1, 3);
  together.written(typed);
  const here = state.apply(typed);
  expect(here.doc.firstChild!.textContent).toBe("YW");
  const after = here.apply(together.receive(here, [from(new ReplaceStep(2, 3, Slice.empty))])!);
  expect(after.doc.firstChild!.textContent).toBe("W");
});

test("no step splits a surrogate pair", () => {
  const { together, state } = person(paragraph("a\u{1f600}b"));
  together.written(state.tr.insertText("\ude01", 3, 4));
  const [step] = together.next()!.steps as {
    from: number;
    to: number;
    slice: { content: { text: string }[] };
  }[];
  expect([step!.from, step!.to, step!.slice.content[0]!.text]).toEqual([2, 4, "\u{1f601}"]);
});

test.each([
  ["\ud83d", "\ude01"],
  ["\ude01", "\ud83d"],
])("a surrogate pair is sent whole if %j is typed before %j", (first, second) => {
  const { together, state } = person(paragraph("ab"));
  const half = state.tr.insertText(first, 2);
  together.written(half);
  const sent = together.next()!;
  const own = { client: "me", user: "me" };
  const whole = state.apply(half).tr.insertText(second, first < second ? 3 : 2);
  together.written(whole);
  expect(whole.doc.textContent).toBe("a\u{1f601}b");
  let shown = state.apply(half).apply(whole);
  const confirm = (sending: Sending, version: number): void => {
    const news = together.receive(shown, [{ ...own, ...sending, version }]);
    if (news) shown = shown.apply(news);
    expect(shown.doc.textContent).toBe("a\u{1f601}b");
  };
  confirm(sent, 1);
  const next = together.next()!;
  const [step] = next.steps as { slice: { content: { text: string }[] } }[];
  expect(step!.slice.content[0]!.text).toBe("\u{1f601}");
  confirm(next, 2);
  expect(together.base.textContent).toBe("a\u{1f601}b");
  expect(together.pending).toEqual([]);
});

test("confirming an unchanged batch does not change the display", () => {
  const { together, state } = person(paragraph("one"));
  together.written(state.tr.insertText("!", 4));
  const { steps, batch, attempt } = together.next()!;
  expect(together.receive(state, [{ version: 1, client: "me", batch, attempt, user: "me", steps }])).toBe(
    undefined,
  );
  expect(together.base.textContent).toBe("one!");
  expect(together.pending).toEqual([]);
});

test("the caret stays behind own text whose confirmation arrives late, together with text of others", () => {
  const { together, state } = person(paragraph("Words she"), paragraph("two"));
  let here = select(state, 10);
  for (const letter of "ll") {
    const typed = here.tr.insertText(letter);
    together.written(typed);
    here = here.apply(typed);
  }
  const first = together.next()!;
  // The response to the first attempt was lost.
  together.next();
  const others = new ReplaceStep(1, 1, new Slice(Fragment.from(schema.text("My ")), 0, 0));
  const batches = [{ ...first, version: 2, user: "me" }, { ...from(others), version: 3 }];
  const { doc, selection } = here.apply(together.receive(here, batches)!);
  expect(doc.firstChild!.textContent).toBe("My Words shell");
  expect(selection.head).toBe(15);
});

test("letters that someone types in a block go with it when it is moved", () => {
  const blocks = ["Words here", "two", "three"].map(paragraph);
  const { together, state } = person(...blocks);
  const server = new Authority(state.doc);
  const select = state.apply(state.tr.setSelection(TextSelection.create(state.doc, 3)));
  let here = select;
  const dispatch = (transaction: Transaction): void => {
    if (!transaction.getMeta(REMOTE)) together.written(transaction);
    here = here.apply(transaction);
  };
  moveBlock(1)(here, dispatch);
  together.next();
  // Others type at the end of the first word, each letter before the next attempt arrives.
  for (const [number, letter] of [..."more"].entries()) {
    const at = 6 + number;
    const step = new ReplaceStep(at, at, new Slice(Fragment.from(schema.text(letter)), 0, 0));
    server.take("other", number + 1, 1, [step]);
    dispatch(together.receive(here, server.since(together.version))!);
    // The author of the move writes in the block, too.
    if (letter === "o") dispatch(here.tr.insertText("!", here.selection.head));
    if (number < 3) together.next();
  }
  const expected = ["two", "Wo!rdsmore here", "three"];
  expect(childrenOf(here.doc).map((node) => node.textContent)).toEqual(expected);
  expect(together.doc.eq(here.doc)).toBe(true);
  for (let sending = together.next(); sending; sending = together.next()) {
    const answer = server.post(sending);
    expect(answer.status).toBe(200);
    const news = together.receive(here, answer.batches!);
    if (news) dispatch(news);
  }
  expect(server.doc.eq(here.doc)).toBe(true);
});

const moves: [string, (table: Node) => Command][] = [
  ["row up", (table) => moveRows(table, 0, 3, 3, -1)],
  ["two rows up", (table) => moveRows(table, 0, 2, 3, -1)],
  ["row down", (table) => moveRows(table, 0, 1, 1, 1)],
  ["column left", (table) => moveColumns(table, 0, 1, 1, -1)],
  ["column right", (table) => moveColumns(table, 0, 0, 0, 1)],
  ["sorted rows", (table) => sortRows(table, 0, 0, true)],
];

test.each(moves)("letters that someone types in a table stay in their cells: %s", (_name, move) => {
  const row = (...texts: string[]): Node =>
    make("table_row", texts.map((text) => make("table_cell", [paragraph(text)])), {});
  const head = make("table_head", [make("table_heading", "X"), make("table_heading", "Y")]);
  const table = make("table", [head, row("a", "1"), row("c", "3"), row("b", "2"), row("d", "4")]);
  for (const cell of "abcd1234") {
    const { together, state } = person(table);
    let here = state;
    move(table)(here, (transaction) => {
      together.written(transaction);
      here = here.apply(transaction);
    });
    let end = 0;
    state.doc.descendants((node, at) => void (node.text === cell && (end = at + 1)));
    const typed = new ReplaceStep(end, end, new Slice(Fragment.from(schema.text("!")), 0, 0));
    const after = here.apply(together.receive(here, [from(typed)])!);
    const texts = (doc: Node): string => doc.textBetween(0, doc.content.size, ",");
    expect(texts(after.doc)).toBe(texts(here.doc).replace(cell, `${cell}!`));
    expect(after.doc.child(0).childCount).toBe(5);
    expect(together.doc.eq(after.doc)).toBe(true);
  }
});

test.each([0, 2, 5])(
  "a cell that someone split stays split when its row is moved: %i letters later",
  (count) => {
    const row = (text: string): Node => make("table_row", [make("table_cell", [paragraph(text)])], {});
    const table = make("table", [
      make("table_head", [make("table_heading", "X")]),
      row("one"),
      row("two four"),
    ]);
    const { together, state } = person(table);
    let here = state.reconfigure({ plugins: [uniqueKeys()] });
    const apply = (transaction: Transaction): void => {
      const { state, transactions } = here.applyTransaction(transaction);
      for (const each of transactions) if (!each.getMeta(REMOTE)) together.written(each);
      here = state;
    };
    const type = (text: string): void => [...text].forEach((letter) => apply(here.tr.insertText(letter)));
    let end = 0;
    state.doc.descendants((node, at) => void (node.text === "two four" && (end = at + 3)));
    here = select(here, end);
    type(" q8z");
    apply(here.tr.split(here.selection.head));
    type(" q15z".slice(0, count));
    moveRows(table, 0, 1, 1, 1)(state, (moved) => {
      const batch = { ...from(moved.steps[0]!), steps: moved.steps.map((step) => step.toJSON()) };
      apply(together.receive(here, [batch])!);
    });
    type(" q15z".slice(count));
    expect(here.doc.textBetween(0, here.doc.content.size, ",")).toBe("X,two q8z, q15z four,one");
    expect(together.doc.eq(here.doc)).toBe(true);
  },
);

const texts = (doc: Node): string[] =>
  childrenOf(doc.child(0)).map((row) => childrenOf(row).map(({ textContent }) => textContent).join("|"));

const row = (...words: string[]): Node =>
  make("table_row", words.map((text, at) => make("table_cell", [paragraph(text)], { col: "XYZ"[at] })), {});

type Change = (state: EditorState, table: Node) => Transaction;
const adds: Change = (state, table) => state.tr.insert(table.nodeSize - 1, row("b", "2", "c"));
const moves01: Change = (state, table) => run(moveColumns(table, 0, 0, 0, 1), state)!;
const moves12: Change = (state, table) => run(moveColumns(table, 0, 1, 1, 1), state)!;
const inserts: Change = (state, table) => run(insertColumn(table, 0, 1), state)!;
const removes: Change = (state, table) => run(deleteColumns(table, 0, 1, 1), state)!;
const types: Change = (state, table) => {
  const at = cellPosition(table, 0, 1, 1) + 2;
  return state.tr.insertText("!", at, at + 1);
};

const changesOfTables: [string, Change, Change, string[]][] = [
  ["a new row, a new column", adds, inserts, ["X||Y|Z", "a||1|i", "b||2|c"]],
  ["a new row, a deleted column", adds, removes, ["X|Z", "a|i", "b|c", "2"]],
  ["a new row, a moved column", adds, moves01, ["Y|X|Z", "1|a|i", "2|b|c"]],
  ["a word, a moved column", types, moves01, ["Y|X|Z", "!|a|i"]],
  ["a word, a deleted column", types, removes, ["X|Z", "a|i", "!"]],
  ["a new column, a moved column", inserts, moves01, ["Y|X||Z", "1|a||i"]],
  ["a new column, a deleted column", inserts, removes, ["X||Z", "a||i"]],
  ["a deleted column, a moved column", removes, moves12, ["X|Z", "a|i"]],
  ["two moved columns", moves01, moves12, ["Y|X|Z", "1|a|i"]],
  ["the same moved column", moves12, moves12, ["X|Z|Y", "a|i|1"]],
];

test.each(changesOfTables)("words in tables stay in their columns: %s", (_names, one, two, expected) => {
  const titles = [..."XYZ"].map((col) => make("table_heading", col, { col }));
  const table = make("table", [make("table_head", titles, {}), row("a", "1", "i")], { data: { view: {} } });
  const found = [[one, two], [two, one]].map(([own, others]) => {
    const { together, state } = person(table);
    const server = new Authority(state.doc);
    server.post({ client: "other", batch: 1, attempt: 1, version: 0, steps: json(others!(state, table)) });
    const made = own!(state, table);
    together.written(made);
    let here = state.apply(made);
    for (let sending = together.next(); sending; sending = together.next()) {
      const news = together.receive(here, server.post(sending).batches!);
      if (news) here = here.apply(news);
    }
    expect(here.doc.eq(server.doc)).toBe(true);
    return [...texts(here.doc), ...childrenOf(here.doc).slice(1).map(({ textContent }) => textContent)];
  });
  expect(found[0]).toEqual(found[1]);
  expect(found[0]).toEqual(expected);
});

const json = (transaction: Transaction): Record<string, unknown>[] =>
  transaction.steps.map((step) => step.toJSON());

test("a batch of another person with the same client and number confirms nothing", () => {
  const { together, state } = person(paragraph("one"));
  const typed = state.tr.insertText("!", 4);
  together.written(typed);
  const { steps, batch, attempt } = together.next()!;
  const theirs = { version: 1, client: "me", batch, attempt, user: "other", steps };
  const here = state.apply(typed);
  const after = here.apply(together.receive(here, [theirs])!);
  expect(after.doc.textContent).toBe("one!!");
  expect(together.pending.length).toBe(1);
});

test("a table row that two people move is there once", () => {
  const row = (text: string): Node => make("table_row", [make("table_cell", [paragraph(text)])], {});
  const table = make("table", [
    make("table_head", [make("table_heading", "X")]),
    row("a"),
    row("b"),
    row("c"),
  ]);
  const { together, state } = person(table);
  const made: Transaction[] = [];
  moveRows(table, 0, 1, 1, 1)(state, (transaction) => made.push(transaction));
  moveRows(table, 0, 3, 3, -1)(state, (transaction) => made.push(transaction));
  const [own, others] = made as [Transaction, Transaction];
  together.written(own);
  const batch = { ...from(others.steps[0]!), steps: others.steps.map((step) => step.toJSON()) };
  const after = state.apply(own).apply(together.receive(state.apply(own), [batch])!);
  expect(childrenOf(after.doc.child(0)).map((node) => node.textContent).toSorted()).toEqual([
    "X",
    "a",
    "b",
    "c",
  ]);
});

test("a block that two people move is there once", () => {
  const { together, state } = person(...["one", "two", "three"].map(paragraph));
  let here = state.apply(state.tr.setSelection(TextSelection.create(state.doc, 2)));
  moveBlock(1)(here, (transaction) => {
    together.written(transaction);
    here = here.apply(transaction);
  });
  const moved = new Transform(state.doc);
  moved.delete(0, 5).insert(12, state.doc.firstChild!);
  const batch = { ...from(moved.steps[0]!), version: 2, steps: moved.steps.map((step) => step.toJSON()) };
  here = here.apply(together.receive(here, [batch])!);
  expect(childrenOf(here.doc).map((node) => node.textContent)).toEqual(["two", "one", "three"]);
});

test("a tab that only seemed closed and the tab that continued its changes lose nothing", () => {
  const { together: first, state } = person(paragraph("Words"));
  const server = new Authority(state.doc);
  const tabs = [{ together: first, here: state }];
  const type = (tab: number, text: string): void => {
    const at = tabs[tab]!;
    const transaction = at.here.tr.insertText(text, 6);
    at.together.written(transaction);
    at.here = at.here.apply(transaction);
  };
  const receive = (tab: number, batches: Batch[]): void => {
    const at = tabs[tab]!;
    const news = at.together.receive(at.here, batches);
    if (news) at.here = at.here.apply(news);
  };
  const send = (tab: number): void => {
    const { together } = tabs[tab]!;
    for (let tries = 0, sending = together.next(); sending && tries < 9; tries++, sending = together.next()) {
      receive(tab, server.post(sending).batches!);
    }
    expect(together.pending).toEqual([]);
  };
  type(0, " sent");
  first.next();
  type(0, " not");
  const kept = JSON.parse(JSON.stringify(first.keep())) as Kept;
  const second = Together.restore(kept, state.doc, () => {}, "me 2", "me");
  tabs.push({ together: second, here: state.apply(state.tr.insertText(" not sent", 6)) });
  send(1);
  type(1, " more");
  send(1);
  // The first tab was only frozen.
  type(0, " awake");
  send(0);
  receive(1, server.since(second.version));
  expect(tabs[1]!.here.doc.eq(tabs[0]!.here.doc)).toBe(true);
  const { textContent } = server.doc;
  for (const word of ["sent", "not", "more", "awake"]) expect(textContent).toContain(word);
});
