/** Deletions and moves that meet changes of others that their author hasn't seen. */
import type { Node } from "prosemirror-model";
import { history, undo } from "prosemirror-history";
import { type Command, EditorState, NodeSelection, type Transaction } from "prosemirror-state";
import { expect, test } from "vitest";
import { newKey, schema } from "../document/schema.ts";
import { moveBlock } from "./blocks.ts";
import { deleteColumns, deleteRows, insertColumn, moveColumns, moveRows, sortRows } from "./tablecommands.ts";
import { type Batch, REMOTE, type Rescue, Together } from "./together.ts";

function make(type: string, attrs: object, ...content: (Node | string)[]): Node {
  const known = schema.nodes[type]!.spec.attrs ?? {};
  const nodes = content.map((each) => typeof each === "string" ? schema.text(each) : each);
  return schema.nodes[type]!.create("key" in known ? { key: newKey(), ...attrs } : attrs, nodes);
}

const paragraph = (text: string): Node => make("paragraph", {}, ...(text ? [text] : []));

/** An edit of a person who has seen only this page. */
type Edit = (state: EditorState) => Transaction;

const run = (command: Command): Edit => (state) => {
  let made: Transaction | undefined;
  command(state, (transaction) => void (made = transaction));
  return made!;
};

function batch(transaction: Transaction): Batch {
  const steps = transaction.steps.map((step) => step.toJSON());
  return { version: steps.length, client: "other", batch: 1, attempt: 1, user: "other", steps };
}

/** Return the page after two edits that are made at once: others' edit reaches the server first. */
function both(blocks: Node[], own: Edit, others: Edit): { doc: Node; rescues: Rescue[] } {
  const doc = schema.nodes.doc!.create(null, blocks);
  const state = EditorState.create({ doc });
  const rescues: Rescue[] = [];
  const together = new Together("me", 0, doc, (rescue) => rescues.push(rescue));
  const made = own(state);
  together.written(made);
  let here = state.apply(made);
  here = here.apply(together.receive(here, [batch(others(state))])!);
  expect(here.doc.eq(together.doc)).toBe(true);
  here.doc.check();
  return { doc: here.doc, rescues };
}

const setData = (pos: number, data: object) => ({ tr }: EditorState): Transaction =>
  tr.setNodeAttribute(pos, "data", data);

test("a change of a block's type leaves the fields of the type that another person chose", () => {
  const heading = (data: object) => ({ tr }: EditorState): Transaction =>
    tr.setNodeMarkup(0, schema.nodes.heading_2, { key: "own", data });
  const { doc } = both(
    [make("paragraph", { key: "own" }, schema.text("one"))],
    heading({}),
    heading({ anchor: "word" }),
  );
  expect(doc.firstChild!.attrs.data).toEqual({ anchor: "word" });
});

test.each([
  ["math", { formula: "x" }, { formula: "x = y" }],
  ["embed", { url: "https://a.example" }, { url: "https://b.example" }],
])("a deletion leaves a block whose fields others filled in meanwhile: %s", (type, was, now) => {
  const blocks = [paragraph("one"), make(type, { data: was }), paragraph("two")];
  const end = 5 + blocks[1]!.nodeSize;
  for (
    const remove of [
      ({ tr }: EditorState) => tr.delete(5, end),
      ({ tr }: EditorState) => tr.delete(0, end + 5),
      ({ tr }: EditorState) => tr.replaceWith(5, end, paragraph("new")),
    ]
  ) {
    const { doc } = both(blocks, remove, setData(5, now));
    expect(doc.children.map(({ attrs }) => attrs.data)).toContainEqual(now);
  }
  // A deletion of a block without unseen fields isn't affected.
  const { doc } = both(blocks, ({ tr }) => tr.delete(5, end), setData(end, { align: "right" }));
  expect(doc.childCount).toBe(2);
});

test("a new block type replaces no fields that others filled in meanwhile", () => {
  const heading = make("heading_2", {}, "Title");
  const toParagraph = ({ tr }: EditorState): Transaction =>
    tr.setNodeMarkup(0, schema.nodes.paragraph, { key: heading.attrs.key });
  const { doc } = both([heading], toParagraph, setData(0, { id: "typed" }));
  expect([doc.textContent, doc.firstChild!.attrs.data]).toEqual(["Title", { id: "typed" }]);
});

test("a moved block that its author deletes again keeps fields that others filled in", () => {
  const blocks = [make("math", { data: { formula: "x" } }), paragraph("one"), paragraph("two")];
  const own = ({ tr }: EditorState): Transaction => tr.delete(0, 1).insert(5, blocks[0]!).delete(5, 6);
  const { doc } = both(blocks, own, setData(0, { formula: "x = y" }));
  expect(doc.children.map(({ attrs }) => attrs.data)).toContainEqual({ formula: "x = y" });
});

test("a field that the server refuses is set aside", () => {
  const doc = schema.nodes.doc!.create(null, [make("math", { data: { formula: "" } }), paragraph("one")]);
  const rescues: Rescue[] = [];
  const together = new Together("me", 0, doc, (rescue) => rescues.push(rescue));
  const state = EditorState.create({ doc });
  const made = setData(0, { formula: "x = y" })(state);
  together.written(made);
  together.next();
  together.refused(state.apply(made), 0);
  expect(rescues).toMatchObject([{ kind: "aside", nodes: [{ attrs: { data: { formula: "x = y" } } }] }]);
});

// --- tables ----------------------------------------------------------------------------------------------------

const row = (...texts: string[]): Node =>
  make("table_row", {}, ...texts.map((text) => make("table_cell", {}, paragraph(text))));
const head = make("table_head", {}, make("table_heading", {}, "X"), make("table_heading", {}, "Y"));
const grid = make(
  "table",
  { data: { view: { hideHeader: false } } },
  head,
  row("a", "1"),
  row("c", "3"),
  row("b", "2"),
  row("d", "4"),
);

const valued = make(
  "table",
  { data: { view: { hideHeader: false } } },
  head,
  ...["a", "b"].map((text) =>
    make("table_row", {}, make("table_cell", {}, paragraph(text)), make("table_value", { value: "x" }))
  ),
);
let placeOfValue = 0;
valued.descendants((node, at) => void (node.type.name === "table_value" && (placeOfValue ||= at + 1)));
const setValue = ({ tr }: EditorState): Transaction => tr.setNodeAttribute(placeOfValue, "value", "typed");

test.each(["a block", "a table row"])(
  "undo of a move keeps fields that others filled in since: %s",
  (which) => {
    const isRow = which === "a table row";
    const block = isRow ? valued : make("math", { data: { formula: "x" } });
    const doc = schema.nodes.doc!.create(null, [block, paragraph("one")]);
    const plugins = [history()];
    let state = EditorState.create({ doc, plugins, selection: NodeSelection.create(doc, 0) });
    const together = new Together("me", 0, doc);
    const write = (transaction: Transaction): void => {
      state = state.apply(transaction);
      if (transaction.getMeta(REMOTE)) return;
      together.written(transaction);
      const spared = together.spared(state);
      if (spared) write(spared);
    };
    write(run(isRow ? moveRows(valued, 0, 2, 2, -1) : moveBlock(1))(state));
    const others = isRow ? setValue : setData(0, { formula: "typed" });
    write(together.receive(state, [batch(others(EditorState.create({ doc })))])!);
    undo(state, write);
    expect(state.doc.eq(others(EditorState.create({ doc })).doc)).toBe(true);
    expect(together.doc.eq(state.doc)).toBe(true);
  },
);

test.each(["typed", 42])("a value that is typed in a row that others delete returns as text: %s", (value) => {
  const own = ({ tr }: EditorState): Transaction => tr.setNodeAttribute(placeOfValue, "value", value);
  const { doc, rescues } = both([valued], own, run(deleteRows(valued, 0, 1, 1)));
  expect([doc.lastChild!.textContent, rescues.length]).toEqual([String(value), 1]);
  expect(JSON.stringify(both([valued], run(deleteRows(valued, 0, 1, 1)), own).doc)).toContain(
    JSON.stringify({ value, col: null }),
  );
});

const cellsOf = (doc: Node): string[] =>
  doc.firstChild!.children.map((row) => row.children.map((cell) => cell.textContent).join("|"));

const rowEdits: [string, Command, string[]][] = [
  ["row up", moveRows(grid, 0, 3, 3, -1), ["a1", "b2", "c3", "d4"]],
  ["row down", moveRows(grid, 0, 1, 1, 1), ["c3", "a1", "b2", "d4"]],
  ["two rows up", moveRows(grid, 0, 2, 3, -1), ["c3", "b2", "a1", "d4"]],
  ["sorted rows", sortRows(grid, 0, 0, false), ["a1", "b2", "c3", "d4"]],
  ["sorted rows, last first", sortRows(grid, 0, 0, true), ["d4", "c3", "b2", "a1"]],
];

const columnEdits: [string, Command, (cells: string) => string][] = [
  ["inserted", insertColumn(grid, 0, 1), (cells) => `${cells[0]}||${cells[1]}`],
  ["inserted first", insertColumn(grid, 0, 0), (cells) => `|${cells[0]}|${cells[1]}`],
  ["moved", moveColumns(grid, 0, 1, 1, -1), (cells) => `${cells[1]}|${cells[0]}`],
  ["deleted", deleteColumns(grid, 0, 0, 0), (cells) => cells[1]!],
];

test.each(
  rowEdits.flatMap((rows) => columnEdits.map((columns) => [rows[0], columns[0], rows, columns] as const)),
)(
  "words stay in their row and column: %s, column %s",
  (_rows, _columns, [, rows, order], [, columns, shown]) => {
    const expected = [shown("XY"), ...order.map(shown)];
    expect(cellsOf(both([grid], run(rows), run(columns)).doc)).toEqual(expected);
    expect(cellsOf(both([grid], run(columns), run(rows)).doc)).toEqual(expected);
  },
);

test("cells of a row that others deleted in part stay in their columns", () => {
  let end = 0;
  grid.descendants((node, at) => void (node.text === "3" && (end = at + 2)));
  const type = ({ tr }: EditorState): Transaction => tr.insertText("!", end);
  expect(cellsOf(both([grid], run(deleteRows(grid, 0, 2, 2)), type).doc)[2]).toBe("|!");
});

test("what someone types or deletes in a block that others moved stays in place", () => {
  const blocks = ["Words here", "two", "three"].map(paragraph);
  const moved = run(moveBlock(1));
  const texts = ({ doc }: { doc: Node }): string[] => doc.children.map((node) => node.textContent);
  const typed = both(blocks, ({ tr }) => tr.insertText("!", 6).delete(1, 3), moved);
  expect(texts(typed)).toEqual(["two", "rds! here", "three"]);
  // The last one wins: the moved block is deleted by someone who has seen all of it.
  expect(texts(both(blocks, ({ tr }) => tr.delete(0, 12), moved))).toEqual(["two", "three"]);
  // Blocks between the parts of a deletion are untouched.
  expect(texts(both(blocks, ({ tr }) => tr.delete(0, 17), moved))).toEqual(["three"]);
});
