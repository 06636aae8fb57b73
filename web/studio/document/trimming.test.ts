import { expect, test } from "vitest";
import { trimmed } from "./trimming.ts";
import type { BlockJson } from "./types.ts";

function leaves(...texts: string[]) {
  return {
    object: "text" as const,
    leaves: texts.map((text) => ({ object: "leaf" as const, text, marks: [] })),
  };
}

function paragraph(key: string, ...nodes: BlockJson["nodes"] & object): BlockJson {
  return { object: "block", type: "paragraph", key, data: {}, nodes };
}

const picture = { object: "inline" as const, type: "emoji", data: { code: "1f600" } };

test.each([
  ["at the end", [leaves("one ")], [leaves("one")]],
  ["at the beginning", [leaves("\t one")], [leaves("one")]],
  ["over leaves", [leaves(" ", " one", "  ", " ")], [leaves("one")]],
  ["nothing but blanks", [leaves("  ")], []],
  ["beside a sign", [leaves("one "), picture, leaves(" ")], [leaves("one "), picture]],
])("blanks %s go", (_, before, after) => {
  expect(trimmed(paragraph("a", ...before))).toEqual(paragraph("a", ...after));
});

test("text without outer spaces is the same object, and unedited text keeps its spaces", () => {
  const plain = paragraph("a", leaves("one two"));
  expect(trimmed(plain)).toBe(plain);
  const list = (second: string): BlockJson => ({
    object: "block",
    type: "list-unordered",
    nodes: [paragraph("a", leaves("kept ")), paragraph("b", leaves(second))].map((each) => ({
      object: "block",
      type: "list-item",
      nodes: [each],
    })),
  });
  expect(trimmed(list("typed "), list(""))).toEqual(list("typed"));
  const code: BlockJson = {
    object: "block",
    type: "code",
    nodes: [{ type: "code-line", nodes: [leaves("  x ")] }],
  };
  expect(trimmed(code)).toBe(code);
});
