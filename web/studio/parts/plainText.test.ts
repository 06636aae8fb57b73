import { expect, test } from "vitest";
import { documentOf, textOf } from "./plainText.ts";

test("paragraphs come back as they were", () => {
  const text = "Say “space”, never “folder”.\nBe brief.\n\nDo not speak about prices.";
  expect(textOf(documentOf(text))).toBe(text);
  expect(textOf(documentOf("  \n\n"))).toBe("");
});

test("what is more than plain text is none", () => {
  expect(textOf({ nodes: [{ type: "heading-1", nodes: [] }] })).toBeUndefined();
  const bold = { leaves: [{ text: "brief", marks: [{ type: "bold" }] }] };
  expect(textOf({ nodes: [{ type: "paragraph", nodes: [bold] }] })).toBeUndefined();
});
