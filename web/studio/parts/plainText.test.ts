import { expect, test } from "vitest";
import { documentOf, textOf } from "./plainText.ts";

test("paragraphs round-trip", () => {
  const text = "Say “space”, never “folder”.\nBe brief.\n\nDo not speak about prices.";
  expect(textOf(documentOf(text))).toBe(text);
  expect(textOf(documentOf("  \n\n"))).toBe("");
});

test("content that is more than plain text is not converted", () => {
  expect(textOf({ nodes: [{ type: "heading-1", nodes: [] }] })).toBeUndefined();
  const bold = { leaves: [{ text: "brief", marks: [{ type: "bold" }] }] };
  expect(textOf({ nodes: [{ type: "paragraph", nodes: [bold] }] })).toBeUndefined();
});
