import { expect, test } from "vitest";
import { replaced } from "./replacing.ts";

const leaf = (text: string, ...marks: string[]) => ({
  object: "leaf" as const,
  text,
  marks: marks.map((type) => ({ object: "mark" as const, type })),
});
const paragraph = (key: string, ...leaves: ReturnType<typeof leaf>[]) => ({
  object: "block" as const,
  type: "paragraph",
  isVoid: false,
  key,
  data: {},
  nodes: [{ object: "text" as const, leaves }],
});
const document = {
  nodes: [paragraph("a", leaf("One fox, a "), leaf("Fox", "bold"), leaf(".")), paragraph("b", leaf("none"))],
};

test("text is replaced with its marks, and only blocks that contain it change", () => {
  const made = replaced(document, { query: "fox", exact: false }, "hare");
  expect(made?.count).toBe(2);
  expect(made?.set.map(({ block }) => block)).toEqual(["a"]);
  const text = made?.set[0]?.document.document[0]?.nodes?.[0] as {
    leaves: { text: string; marks: { type: string }[] }[];
  };
  expect(text.leaves.map((each) => [each.text, each.marks.map((mark) => mark.type)])).toEqual([
    ["One hare, a ", []],
    ["hare", ["bold"]],
    [".", []],
  ]);
});

test("case can matter, and a search without matches changes nothing", () => {
  expect(replaced(document, { query: "Fox", exact: true }, "")?.count).toBe(1);
  expect(replaced(document, { query: "wolf", exact: false }, "x")).toBeUndefined();
});
