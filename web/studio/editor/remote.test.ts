import { EditorState } from "prosemirror-state";
import { expect, test } from "vitest";
import { readDocument, writeBlock } from "../document/convert.ts";
import type { BlockJson } from "../document/types.ts";
import { rebased, type Unsent, wordChanges } from "./remote.ts";
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

test("what was written into words that are gone is not unsent any more", () => {
  const { made } = bring([block("a", "one two three")], [[6, "x"]], [block("a", "one three")]);
  expect(made.unsent.length).toBe(0);
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
