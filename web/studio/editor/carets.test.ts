/** Marks of other people, which must not count as parts of tabs and tables. */
import { Fragment, type Node } from "prosemirror-model";
import type { EditorView } from "prosemirror-view";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newKey, schema } from "../document/schema.ts";
import { carets, tellCarets } from "./carets.ts";
import { mountPage } from "./mounting.ts";

const { nodes } = schema;
const panels = ["one", "two"].map((title) =>
  nodes.tabs_item!.create(
    { key: newKey(), data: { title } },
    nodes.paragraph!.create({ key: newKey() }, schema.text(title)),
  )
);
const tabs = nodes.tabs!.create({ key: newKey() }, Fragment.from(panels));
let view: EditorView;

beforeEach(() => {
  const place = document.body.appendChild(document.createElement("div"));
  const doc = nodes.doc!.create(null, tabs);
  view = mountPage(place, { doc, lookup: {} as never, plugins: [carets(() => {})] });
});

afterEach(() => {
  view.destroy();
  document.body.replaceChildren();
});

const user = { id: "mei", displayName: "Mei" };
const isPanel = (node: Node): boolean => node.type === nodes.tabs_item;

/** Change the title of a panel, and return which panels are visible after that. */
async function shown(): Promise<boolean[]> {
  view.dispatch(view.state.tr.setNodeAttribute(1, "data", { title: "first" }));
  await Promise.resolve();
  return [...view.dom.querySelectorAll<HTMLElement>("[role=tabpanel]")].map((panel) => !panel.hidden);
}

test.each([1, 1 + panels[0]!.nodeSize, 1 + tabs.content.size])(
  "a caret at the edge of a tab, at %i, is drawn in text and hides no tab",
  async (place) => {
    expect(view.state.doc.resolve(place).parent.firstChild).toSatisfy(isPanel);
    tellCarets(view, { caret: { client: "other", user, anchor: place, head: place } });
    expect(await shown()).toEqual([true, false]);
    expect(view.dom.querySelector(".caret")!.parentElement!.tagName).toBe("P");
  },
);

test.each([0, 2, tabs.nodeSize])(
  "a caret between blocks, at %i, is drawn in text and takes no line",
  (place) => {
    expect(view.state.doc.resolve(place).parent.inlineContent).toBe(false);
    tellCarets(view, { caret: { client: "other", user, anchor: place, head: place } });
    expect(view.dom.querySelector(".caret")!.parentElement!.tagName).toBe("P");
  },
);

test("the note of a restored tab hides no tab", async () => {
  tellCarets(view, { restored: panels[0]!.attrs.key, by: "Mei" });
  expect(view.dom.querySelectorAll(".restored")).toHaveLength(1);
  view.dom.querySelectorAll<HTMLElement>("[role=tab]")[1]!.click();
  expect(await shown()).toEqual([false, true]);
});

test("clients of two people with the same ID have their own carets", () => {
  const other = { id: "tom", displayName: "Tom" };
  for (const [at, person] of [[3, user], [4, other]] as const) {
    tellCarets(view, { caret: { client: "same", user: person, anchor: at, head: at } });
  }
  const names = () => [...view.dom.querySelectorAll<HTMLElement>(".caret")].map((one) => one.dataset.name);
  expect(names()).toEqual(["Mei", "Tom"]);
  tellCarets(view, { gone: { client: "same", user } });
  expect(names()).toEqual(["Tom"]);
});
