import { EditorState, TextSelection } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { afterEach, beforeEach, expect, test } from "vitest";
import { schema } from "../document/schema.ts";
import { readInput } from "./pendinginput.ts";

/** Stop the event, because browsers announce a selection later. */
function silence(event: Event): void {
  event.stopImmediatePropagation();
}

beforeEach(() => document.addEventListener("selectionchange", silence, true));
afterEach(() => document.removeEventListener("selectionchange", silence, true));

test("a caret that the browser hasn't announced isn't replaced by the previous one", () => {
  const place = document.body.appendChild(document.createElement("div"));
  const doc = schema.node("doc", null, [schema.node("paragraph", null, schema.text("Words here."))]);
  const state = EditorState.create({ doc, selection: TextSelection.create(doc, 12) });
  const view = new EditorView(place, { state });
  view.focus();
  getSelection()!.collapse(view.dom.querySelector("p")!.firstChild!, 5);
  expect(view.state.selection.head).toBe(12);
  view.dispatch(readInput(view).tr.insertText("Many ", 1));
  expect(view.state.selection.head).toBe(11);
  expect(getSelection()!.focusOffset).toBe(10);
  view.destroy();
  place.remove();
});
