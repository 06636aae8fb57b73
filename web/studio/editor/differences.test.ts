import { expect, test } from "vitest";
import type { BlockJson } from "../document/types.ts";
import { longestRun } from "./difference.ts";
import { applyChanges, difference } from "./differences.ts";

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

/** Numbers that are the same in each run. */
function chances(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

test("what changed, made again, gives what it was taken from", () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const chance = chances(seed);
    const before = Array.from({ length: chance(9) }, (_, at) => block(`k${at}`));
    let after = [...before];
    for (let edits = chance(6); edits >= 0; edits--) {
      const at = chance(after.length + 1);
      const what = chance(4);
      if (what === 0) after = after.toSpliced(at, 0, block(`n${seed}-${edits}`));
      else if (what === 1) after = after.toSpliced(at, 1);
      else if (what === 2 && after[at]) after = after.with(at, block(after[at].key!, `other ${edits}`));
      else if (after[at]) {
        const [moved] = after.splice(at, 1);
        after.splice(chance(after.length + 1), 0, moved!);
      }
    }
    const changes = difference(before, after);
    const made = changes ? applyChanges(before, changes) : before;
    expect(made.map((each) => each.key), `seed ${seed}`).toEqual(after.map((each) => each.key));
    expect(made, `seed ${seed}`).toEqual(after);
  }
});

test("only what changed is named", () => {
  const before = ["a", "b", "c", "d"].map((key) => block(key));
  expect(difference(before, before)).toBeNull();
  expect(difference(before, before.with(1, block("b", "other")))).toEqual({
    set: [{ block: "b", document: { document: [block("b", "other")] } }],
    insert: [],
    move: [],
    delete: [],
  });
  expect(difference(before, [before[3]!, ...before.slice(0, 3)])).toEqual({
    set: [],
    insert: [],
    move: [{ into: null, at: 0, blocks: ["d"] }],
    delete: [],
  });
});

test("of a change deep inside only the block around it is sent", () => {
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
  const set = (before: BlockJson, after: BlockJson) => difference([before], [after])?.set;
  expect(set(list("a"), list("b"))).toEqual([{ block: "two", document: { document: [block("two", "b")] } }]);
  expect(set(table("a"), table("b"))).toEqual([{ block: "in", document: { document: [block("in", "b")] } }]);
  const changes = difference([list("a"), table("a")], [list("b"), table("b")])!;
  expect(applyChanges([list("a"), table("a")], changes)).toEqual([list("b"), table("b")]);
});

test("the longest rising run", () => {
  expect(longestRun([3, 1, 2, 5, 4])).toEqual([1, 2, 4]);
  expect(longestRun([])).toEqual([]);
});

test("what was written in a block that is gone is at the end", () => {
  const changes = {
    set: [{ block: "gone", document: { document: [block("gone", "words")] } }],
    insert: [],
    move: [],
    delete: [],
  };
  expect(applyChanges([block("one", "a")], changes)).toEqual([block("one", "a"), block("gone", "words")]);
});
