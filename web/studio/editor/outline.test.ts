import type { EditorView } from "prosemirror-view";
import { expect, test } from "vitest";
import { schema } from "../document/schema.ts";
import { headingsOf } from "./outline.ts";

test("both halves of a split heading have different ids", () => {
  const half = (text: string) =>
    schema.nodes.heading_2!.create({ key: "a", meta: { id: "one-two" } }, schema.text(text));
  const doc = schema.nodes.doc!.create(null, [
    half("One"),
    half("two"),
    schema.nodes.heading_2!.create(null, schema.text("x")),
  ]);
  const view = { state: { doc }, nodeDOM: () => document.createElement("h2") } as unknown as EditorView;
  expect(headingsOf(view).map(({ id }) => id)).toEqual(["one-two", ":1", ":2"]);
});
