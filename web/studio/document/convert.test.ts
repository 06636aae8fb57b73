import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { same } from "./comparing.ts";
import { readDocument, writeBlock, writeDocument } from "./convert.ts";
import type { BlockJson, DocumentJson } from "./types.ts";

const documents = JSON.parse(readFileSync("generated/documents.json", "utf8")) as Record<
  string,
  DocumentJson
>;
const all = Object.entries(documents);

function text(words: string, ...marks: string[]) {
  return {
    object: "text" as const,
    leaves: [{
      object: "leaf" as const,
      text: words,
      marks: marks.map((type) => ({ object: "mark" as const, type })),
    }],
  };
}

function paragraph(...nodes: BlockJson["nodes"] & object): BlockJson {
  return { object: "block", type: "paragraph", isVoid: false, data: {}, nodes };
}

function link(url: string, ...nodes: ReturnType<typeof text>[]) {
  return {
    object: "inline" as const,
    type: "link",
    isVoid: false,
    data: { ref: { kind: "url", url } },
    nodes,
  };
}

test("the action of a button is edited as fields and sent as one object", () => {
  const action = { action: "ask", query: "How?" };
  const button = {
    object: "inline" as const,
    type: "button",
    isVoid: true,
    data: { label: "Ask", kind: "primary", ref: { kind: "url", url: "" }, action },
  };
  const block = paragraph(button);
  const node = readDocument({ object: "document", nodes: [block] }).firstChild!;
  expect(node.firstChild!.attrs.data).toMatchObject(action);
  expect(same(writeBlock(node), block)).toBe(true);
});

test("every page round-trips and none of its nodes is opaque", () => {
  expect(all.length).toBeGreaterThan(20);
  const opaque: string[] = [];
  let blocks = 0;
  for (const [path, document] of all) {
    const doc = readDocument(document);
    const back = writeDocument(doc);
    expect(same(back.nodes, document.nodes), path).toBe(true);
    doc.forEach((node) => {
      blocks++;
      if (node.type.name === "opaque") {
        opaque.push(`${path}: ${JSON.stringify(node.attrs.json).slice(0, 300)}`);
      }
    });
  }
  expect(opaque, `of ${blocks} blocks`).toEqual([]);
});

test.each([
  ["an invented block", { object: "block", type: "hologram", data: { a: 1 }, nodes: [] }],
  ["an invented block inside of another", {
    object: "block",
    type: "blockquote",
    data: {},
    nodes: [{ object: "block", type: "hologram" }],
  }],
  ["a list without items", { object: "block", type: "list-ordered", isVoid: false, data: {}, nodes: [] }],
  ["an invented mark", paragraph(text("a", "glowing"))],
  ["a link within a link", paragraph({ ...link("a"), nodes: [link("b", text("x"))] } as never)],
  ["an unknown member", { ...paragraph(text("a")), hue: 7 } as BlockJson],
])("%s is kept as it came", (_, block) => {
  const doc = readDocument({ nodes: [paragraph(text("before")), block as BlockJson] });
  expect(doc.child(1).type.name).toBe("opaque");
  expect(writeDocument(doc).nodes[1]).toEqual(block);
});

test.each([
  ["marks in an unusual order", paragraph(text("a", "code", "bold", "italic"))],
  ["a link without words", paragraph(text("a"), link("b"))],
  ["neighboring links to one address", paragraph(link("a", text("x")), link("a", text("y")))],
  [
    "an inline of an unknown type",
    paragraph(text("a"), { object: "inline", type: "hologram", data: { b: 2 } }),
  ],
  ["a break, also in a mark", paragraph(text("a\nb\n", "bold"))],
  ["an empty paragraph of the page", paragraph()],
])("%s can be edited around", (_, block) => {
  const doc = readDocument({ nodes: [block] });
  expect(doc.firstChild!.type.name).toBe("paragraph");
  expect(same(writeDocument(doc).nodes, [block])).toBe(true);
});

test("an empty page is one empty paragraph, which is not sent", () => {
  const doc = readDocument({ nodes: [] });
  expect(doc.childCount).toBe(1);
  expect(writeDocument(doc).nodes).toEqual([]);
});

test("an unchanged block is converted back only once", () => {
  const doc = readDocument({ nodes: [paragraph(text("a"))] });
  expect(writeBlock(doc.firstChild!)).toBe(writeBlock(doc.firstChild!));
});
