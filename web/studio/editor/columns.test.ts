/** Blocks beside each other, alone and while other people write in them. */
import { Fragment, type Node, Slice } from "prosemirror-model";
import { type Command, EditorState, NodeSelection, TextSelection } from "prosemirror-state";
import { ReplaceStep } from "prosemirror-transform";
import { expect, test } from "vitest";
import { newKey, schema } from "../document/schema.ts";
import { uniqueKeys } from "./blockkeys.ts";
import { leaveColumns, putBeside, putBesideAbove } from "./columns.ts";
import { type Batch, Together } from "./together.ts";

const { nodes } = schema;
const text = (words: string): Node => nodes.paragraph!.create({ key: newKey() }, schema.text(words));
const column = (...blocks: Node[]): Node => nodes.column!.create({ key: newKey() }, blocks);
const columns = (...each: Node[]): Node => nodes.columns!.create({ key: newKey() }, each);

/** Return the page in a short form: `a [b | c]`. */
function drawn(node: Node): string {
  const parts: string[] = [];
  node.forEach((child) => parts.push(child.isTextblock ? child.textContent : drawn(child)));
  const joined = parts.join(node.type === nodes.columns ? " | " : " ");
  return node.type === nodes.columns ? `[${joined}]` : joined;
}

const page = (...blocks: Node[]): EditorState =>
  EditorState.create({ doc: nodes.doc!.create(null, blocks), plugins: [uniqueKeys()] });

/** Return the position of the block with this text. */
function at(doc: Node, words: string): number {
  let found = -1;
  doc.descendants((node, position) => {
    if (node.isTextblock && node.textContent === words) found = position;
  });
  return found;
}

function run(state: EditorState, command: Command): EditorState {
  let after = state;
  expect(command(state, (transaction) => (after = state.apply(transaction)))).toBe(true);
  after.doc.check();
  return after;
}

const caret = (state: EditorState, words: string): EditorState =>
  state.apply(state.tr.setSelection(TextSelection.create(state.doc, at(state.doc, words) + 2)));

test.each(
  [
    ["c", "a", "after", "[a | c] b d"],
    ["c", "a", "before", "[c | a] b d"],
    ["a", "c", "after", "b [c | a] d"],
    ["a", "d", "before", "b c [a | d]"],
  ] as const,
)("%s is put beside %s, %s it", (moved, other, side, expected) => {
  const state = page(...["a", "b", "c", "d"].map(text));
  const after = run(state, putBeside(at(state.doc, moved), at(state.doc, other), side));
  expect(drawn(after.doc)).toBe(expected);
});

test.each(
  [
    ["c", "a", "after", "[a | c | b] d"],
    ["c", "b", "before", "[a | c | b] d"],
    ["a", "d", "after", "b c [d | a]"],
    ["a", "b", "after", "[b | a] c d"],
  ] as const,
)("columns grow and shrink: %s beside %s, %s it", (moved, other, side, expected) => {
  const state = page(columns(column(text("a")), column(text("b"))), text("c"), text("d"));
  const after = run(state, putBeside(at(state.doc, moved), at(state.doc, other), side));
  expect(drawn(after.doc)).toBe(expected);
});

test("by keyboard a block goes beside the block above and out again, with the caret in it", () => {
  let state = caret(page(...["one", "two", "three"].map(text)), "two");
  state = run(state, putBesideAbove);
  expect(drawn(state.doc)).toBe("[one | two] three");
  expect(state.selection.$head.parent.textContent).toBe("two");
  state = run(caret(state, "three"), putBesideAbove);
  expect(drawn(state.doc)).toBe("[one | two | three]");
  state = run(state, leaveColumns(1));
  expect(drawn(state.doc)).toBe("[one | two] three");
  state = run(caret(state, "one"), leaveColumns(-1));
  expect(drawn(state.doc)).toBe("one two three");
});

test.each(["before", "after"] as const)("a column is put %s its own columns", (side) => {
  const state = page(columns(column(text("a")), column(text("b"))));
  for (const moved of ["a", "b"]) {
    const after = run(state, putBeside(at(state.doc, moved), 0, side));
    expect(drawn(after.doc)).toBe((moved === "a") === (side === "before") ? "[a | b]" : "[b | a]");
  }
});

test("widths of columns are reset when another one comes", () => {
  const wide = nodes.column!.create({ key: newKey(), data: { width: { unit: "%", value: 33 } } }, text("a"));
  const state = page(columns(wide, column(text("b"))), text("c"));
  const after = run(state, putBeside(at(state.doc, "c"), 0, "after"));
  expect(after.doc.firstChild!.firstChild!.attrs.data).toEqual({});
});

test("columns aren't nested, and the first block has nothing to stand beside", () => {
  const state = page(
    text("a"),
    columns(column(text("b")), column(nodes.hint!.create(null, text("c")))),
    text("d"),
  );
  expect(putBeside(at(state.doc, "b") - 2, 0, "after")(state)).toBe(false);
  expect(putBeside(0, at(state.doc, "c"), "after")(state)).toBe(false);
  expect(putBesideAbove(caret(state, "a"))).toBe(false);
  const only = page(text("a"));
  const chosen = only.apply(only.tr.setSelection(NodeSelection.create(only.doc, 0)));
  expect(putBesideAbove(chosen)).toBe(false);
});

test.each(["a", "b", "c"])("what someone types in %s meanwhile stays in its block", (where) => {
  for (
    const command of [
      (doc: Node) => putBeside(at(doc, "c"), at(doc, "a"), "after"),
      (doc: Node) => putBeside(at(doc, "a"), at(doc, "c"), "before"),
    ]
  ) {
    const state = page(...["a", "b", "c"].map(text));
    const together = new Together("me", 0, state.doc);
    let here = state;
    command(state.doc)(state, (transaction) => {
      together.written(transaction);
      here = here.apply(transaction);
    });
    const end = at(state.doc, where) + 2;
    const typed = new ReplaceStep(end, end, new Slice(Fragment.from(schema.text("!")), 0, 0));
    const batch: Batch = {
      version: 1,
      client: "other",
      batch: 1,
      attempt: 1,
      user: "other",
      steps: [typed.toJSON()],
    };
    const news = together.receive(here, [batch])!;
    expect(drawn(here.apply(news).doc)).toBe(drawn(here.doc).replace(where, `${where}!`));
    expect(together.doc.eq(here.apply(news).doc)).toBe(true);
  }
});
