import { EditorState, TextSelection } from "prosemirror-state";
import { expect, test } from "vitest";
import { readDocument, writeBlock } from "../document/convert.ts";
import type { BlockJson } from "../document/types.ts";
import { wordChanges } from "./difference.ts";
import { rebased, type Unsent, unsentOf } from "./remote.ts";
import { blocksOf } from "./saving.ts";

function block(key: string, words: string): BlockJson {
  return {
    object: "block",
    type: "paragraph",
    isVoid: false,
    key,
    data: {},
    nodes: words ? [{ object: "text", leaves: [{ object: "leaf", text: words, marks: [] }] }] : [],
  };
}

/** A page where somebody wrote letters at places, and the server has other blocks meanwhile. */
function bring(before: BlockJson[], typed: [at: number, words: string][], remote: BlockJson[]) {
  const confirmed = readDocument({ nodes: before });
  let state = EditorState.create({ doc: confirmed });
  const unsent: Unsent[] = [];
  for (const [at, words] of typed) {
    const transaction = state.tr.insertText(words, at);
    transaction.steps.forEach((step, number) =>
      unsent.push({ step, inverted: step.invert(transaction.docs[number]!) })
    );
    state = state.apply(transaction);
  }
  const made = rebased(state, confirmed, unsent, remote);
  const after = state.apply(made.transaction);
  return { words: after.doc.children.map((node) => node.textContent), made, after };
}

test("words that two wrote into one paragraph are both there", () => {
  const before = [block("a", "one two three")];
  const { words, made } = bring(before, [[14, " four"]], [block("a", "zero one two, three")]);
  expect(words).toEqual(["zero one two, three four"]);
  expect(made.unsent.length).toBe(1);
  expect(blocksOf(made.confirmed)).toEqual([block("a", "zero one two, three")]);
});

test("blocks that came, went and moved are brought in around what is written", () => {
  const before = [block("a", "a"), block("b", "b"), block("c", "c")];
  const { words, after } = bring(before, [[5, "!"]], [block("c", "c"), block("n", "new"), block("b", "b")]);
  expect(words).toEqual(["c", "new", "b!"]);
  expect(after.doc.lastChild!.attrs.key).toBe("b");
});

test("what was written into words that are gone is in their block, and a block that is gone comes back", () => {
  const before = [block("a", "one two three"), block("b", "four")];
  const { words, made } = bring(before, [[6, "x"], [7, "y"]], [block("a", "one three"), block("b", "four")]);
  expect(words).toEqual(["one xythree", "four"]);
  expect(made.unsent.length).toBe(2);
  expect(bring(before, [[17, "x"], [18, "y"]], [block("a", "one two three")]).words).toEqual([
    "one two three",
    "fxyour",
  ]);
});

test("places to write stay behind what they followed", () => {
  const confirmed = readDocument({ nodes: [block("a", "a"), block("b", "b")] });
  const empty = confirmed.type.schema.nodes.paragraph!.create();
  const doc = confirmed.replace(3, 3, confirmed.slice(0, 0)).copy(confirmed.content.addToEnd(empty));
  const state = EditorState.create({ doc });
  const made = rebased(state, doc, [], [block("a", "a"), block("b", "other")]);
  expect(state.apply(made.transaction).doc.children.map((node) => node.textContent)).toEqual([
    "a",
    "other",
    "",
  ]);
});

test("only words that are others are replaced", () => {
  const [was, now] = ["The quick brown fox", "The slow brown dog"].map((words) =>
    readDocument({ nodes: [block("a", words)] }).firstChild!
  );
  expect(
    wordChanges(was!, now!).map((
      { from, to, start, end },
    ) => [was!.textBetween(from, to), now!.textBetween(start, end)]),
  ).toEqual([
    ["quick", "slow"],
    ["fox", "dog"],
  ]);
  expect(wordChanges(was!, was!)).toEqual([]);
  expect(writeBlock(was!)).toEqual(block("a", "The quick brown fox"));
});

function words(text: string): BlockJson["nodes"] {
  return text ? [{ object: "text", leaves: [{ object: "leaf", text, marks: [] }] }] : [];
}

function part(type: string, key: string, nodes: BlockJson["nodes"]): BlockJson {
  return { object: "block", type, isVoid: false, key, data: {}, nodes };
}

const item = (key: string, text: string) =>
  part("list-item", key, [part("paragraph", `${key}p`, words(text))]);
const list = (...items: BlockJson[]) => part("list-unordered", "list", items);

/** A table of one column, as the server names its rows: by their numbers. */
function rows(...cells: [key: string, text: string][]): BlockJson {
  const names = cells.map((_, at) => `r${at + 1}`);
  return {
    ...part("table", "table", undefined),
    isVoid: true,
    data: {
      view: { type: "grid", columns: ["c1"], hideHeader: false },
      records: Object.fromEntries(
        names.map((name, at) => [name, { orderIndex: `00000${at + 1}`, values: { c1: `${name}c1` } }]),
      ),
      definition: { c1: { id: "c1", title: "a", type: "text", textAlignment: "left" } },
    },
    fragments: cells.map(([key, text], at) => ({
      object: "fragment",
      fragment: `${names[at]}c1`,
      type: "cell",
      key,
      nodes: [part("paragraph", `${key}p`, words(text))],
    })),
  };
}

/** The words on either side of the caret, after the server's blocks came into a page with the caret behind a word. */
function caretAfter(before: BlockJson[], behind: string, remote: BlockJson[], typed = ""): string {
  const confirmed = readDocument({ nodes: before });
  let state = EditorState.create({ doc: confirmed });
  let place = 0;
  confirmed.descendants((node, at) => {
    if (node.text?.includes(behind)) place = at + node.text.indexOf(behind) + behind.length;
  });
  state = state.apply(state.tr.setSelection(TextSelection.create(state.doc, place)));
  const transaction = state.tr.insertText(typed);
  const unsent = typed ? unsentOf(transaction) : [];
  if (typed) state = state.apply(transaction);
  const made = rebased(state, confirmed, unsent, remote);
  expect(made.unsent.length).toBe(unsent.length);
  expect(blocksOf(made.confirmed)).toEqual(remote);
  const { $head } = state.apply(made.transaction).selection;
  const text = $head.parent.textContent;
  return `${text.slice(0, $head.parentOffset)}|${text.slice($head.parentOffset)}`;
}

test("the caret stays in its item of a list in which others write", () => {
  const before = [list(item("a", "one"), item("b", "two"), item("c", "three"))];
  const words = [list(item("a", "one more"), item("b", "two"), item("c", "three"))];
  expect(caretAfter(before, "two", words)).toBe("two|");
  expect(caretAfter(before, "tw", words, "ooo")).toBe("twooo|o");
  const moved = [list(item("n", "new"), item("b", "two"), item("a", "one"))];
  expect(caretAfter(before, "tw", moved)).toBe("tw|o");
  expect(caretAfter(before, "on", moved)).toBe("on|e");
});

test("the caret stays in its cell of a table in which others write", () => {
  const before = [rows(["a", "one"], ["b", "two"])];
  expect(caretAfter(before, "tw", [rows(["a", "one more"], ["b", "two"])])).toBe("tw|o");
  expect(caretAfter(before, "tw", [rows(["n", "new"], ["a", "one"], ["b", "two"])], "!")).toBe("tw!|o");
});

test("the caret stays in what others make a heading, a hint of another kind, or moved", () => {
  const hint = (style: string, ...nodes: BlockJson[]) => ({
    ...part("hint", "hint", nodes),
    data: { style },
  });
  expect(caretAfter([block("a", "one")], "on", [{ ...block("a", "one"), type: "heading-1" }])).toBe("on|e");
  const before = [hint("info", block("a", "one"), block("b", "two"))];
  expect(caretAfter(before, "tw", [hint("danger", block("a", "first"), block("b", "two"))])).toBe("tw|o");
  const blocks = [block("a", "one"), block("b", "two"), block("c", "three")];
  expect(caretAfter(blocks, "on", [blocks[1]!, blocks[2]!, block("a", "one more")])).toBe("on|e more");
});

test("a word goes on in front of what others wrote behind its beginning", () => {
  const { words } = bring([block("a", "one tw")], [[7, "o"], [8, "!"]], [block("a", "one tw three")]);
  expect(words).toEqual(["one two! three"]);
  expect(caretAfter([block("a", "one tw")], "tw", [block("a", "one tw three")])).toBe("one tw| three");
});

test("the caret stays behind words whose place is gone", () => {
  const before = [block("a", "one two three")];
  expect(caretAfter(before, "one tw", [block("a", "one three")], "x")).toBe("one x|three");
});

test("words that others wrote where somebody began a new paragraph stay in the one before", () => {
  const confirmed = readDocument({ nodes: [block("a", "one")] });
  const state = EditorState.create({ doc: confirmed });
  const transaction = state.tr.split(4).insertText("two", 6);
  const made = rebased(state.apply(transaction), confirmed, unsentOf(transaction), [block("a", "one more")]);
  const { doc } = state.apply(transaction).apply(made.transaction);
  expect(doc.children.map((node) => node.textContent)).toEqual(["one more", "two"]);
});

test("an item without words stays where somebody is about to write", () => {
  const before = [list(item("a", "one"), item("b", ""))];
  const after = [list(item("a", "one more"), item("b", ""))];
  const { words } = bring(before, [[9, "mine"]], after);
  expect(words).toEqual(["one moremine"]);
});

test("blanks that the server does not keep stay in front of the next word", () => {
  const { words } = bring([block("a", "one ")], [[5, "mine"]], [block("a", "first one")]);
  expect(words).toEqual(["first one mine"]);
});

test("links in a paragraph that others change are the links that they were", () => {
  const link = (text: string) => ({
    object: "inline" as const,
    type: "link",
    isVoid: false,
    data: { ref: { kind: "url", url: "https://example.com/" } },
    nodes: [{ object: "text" as const, leaves: [{ object: "leaf" as const, text, marks: [] }] }],
  });
  const before = part("paragraph", "a", [...words("one ")!, link("two three"), ...words(" four")!]);
  const after = part("paragraph", "a", [...words("one ")!, link("two other"), ...words(" five")!]);
  expect(caretAfter([before], "tw", [after])).toBe("one tw|o other five");
});

test("words that somebody would delete without having seen them stay", () => {
  const confirmed = readDocument({ nodes: [block("a", "one two three")] });
  let state = EditorState.create({ doc: confirmed });
  const transaction = state.tr.delete(4, 9);
  state = state.apply(transaction);
  const seen = rebased(state, confirmed, unsentOf(transaction), [block("a", "one two three four")]);
  expect(state.apply(seen.transaction).doc.textContent).toBe("onethree four");
  const unseen = rebased(state, confirmed, unsentOf(transaction), [block("a", "one big two three")]);
  expect(state.apply(unseen.transaction).doc.textContent).toBe("one big two three");
  const gone = rebased(state, confirmed, unsentOf(transaction), [block("a", "one three")]);
  expect(gone.unsent.length).toBe(1);
});
