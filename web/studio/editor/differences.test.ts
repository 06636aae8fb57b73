import { expect, test } from "vitest";
import type { BlockJson } from "../document/types.ts";
import { longestRun } from "../document/comparing.ts";
import { changedBlocks } from "./differences.ts";

function block(key: string, words = key): BlockJson {
  return {
    object: "block",
    type: "paragraph",
    isVoid: false,
    key,
    data: {},
    nodes: [{ object: "text", leaves: [{ object: "leaf", text: words, marks: [] }] }],
  };
}

test("only changes are listed", () => {
  const before = ["a", "b", "c", "d"].map((key) => block(key));
  expect(changedBlocks(before, before)).toEqual([]);
  expect(changedBlocks(before, before.with(1, block("b", "other")))).toEqual([
    { block: "b", document: { document: [block("b", "other")] } },
  ]);
});

test("a change deep inside only sends the surrounding block", () => {
  const list = (words: string): BlockJson => ({
    object: "block",
    type: "list-ordered",
    key: "list",
    data: {},
    nodes: [{
      object: "block",
      type: "list-item",
      key: "item",
      data: {},
      nodes: [block("one"), block("two", words)],
    }],
  });
  const table = (words: string): BlockJson => ({
    object: "block",
    type: "table",
    key: "table",
    data: {},
    fragments: [{
      object: "fragment",
      fragment: "f",
      key: "cell",
      nodes: [block("in", words), block("also")],
    }],
  });
  const set = (before: BlockJson, after: BlockJson) => changedBlocks([before], [after]);
  expect(set(list("a"), list("b"))).toEqual([{ block: "two", document: { document: [block("two", "b")] } }]);
  expect(set(table("a"), table("b"))).toEqual([{ block: "in", document: { document: [block("in", "b")] } }]);
});

test("the longest increasing subsequence is found", () => {
  expect(longestRun([3, 1, 2, 5, 4])).toEqual([1, 2, 4]);
  expect(longestRun([])).toEqual([]);
});
