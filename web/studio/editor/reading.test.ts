import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readDocument } from "../document/convert.ts";
import type { DocumentJson } from "../document/types.ts";
import type { Lookup } from "./lookup.ts";
import { mountPage } from "./mounting.ts";
import { showPage } from "./reading.ts";

const never = new Promise<never>(() => {});
const lookup = {
  href: () => "/s/space",
  asset: () => never,
  target: () => never,
  value: () => never,
  reusable: () => never,
  onchange: () => () => {},
} as unknown as Lookup;

/** Return a text made of parts: words, and words with marks. */
const text = (...parts: (string | [words: string, ...marks: string[]])[]) => ({
  object: "text",
  leaves: parts.map((part) => {
    const [words, ...marks] = [part].flat();
    return { object: "leaf", text: words, marks: marks.map((type) => ({ object: "mark", type })) };
  }),
});
const block = (type: string, key: string, nodes: unknown[], data: object = {}) => ({
  object: "block",
  type,
  isVoid: false,
  key,
  data,
  nodes,
});
const paragraph = (key: string, ...words: unknown[]) => block("paragraph", key, words);
const page = (...nodes: unknown[]) => ({ object: "document", nodes }) as unknown as DocumentJson;

function show(...nodes: unknown[]) {
  const place = document.body.appendChild(document.createElement("div"));
  return showPage(place, page(...nodes), { lookup });
}

function select(from: [Node, number], to: [Node, number]) {
  getSelection()!.setBaseAndExtent(...from, ...to);
}
const textsOf = (element: Element) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found: Node[] = [];
  while (walker.nextNode()) found.push(walker.currentNode);
  return found;
};

describe("reading", () => {
  test("adjacent texts with the same mark are in one element", async () => {
    const view = await show(paragraph("a", text("One ", ["two ", "bold"], ["three", "bold", "italic"])));
    expect(view.dom.querySelector("p")!.innerHTML).toBe("One <strong>two <em>three</em></strong>");
    expect(view.dom.querySelector("p")!.getAttribute("dir")).toBe("auto");
  });

  test("code is colored in its language", async () => {
    const line = block("code-line", "b", [text("return 1  # one")]);
    const view = await show(block("code", "a", [line], { syntax: "python" }));
    expect([...view.dom.querySelectorAll(".line span")].map((one) => `${one.className} ${one.textContent}`))
      .toEqual(["k return", "m 1", "c # one"]);
  });

  test("threads are marked in the text and on whole blocks", async () => {
    const view = await show(
      block("hint", "h", [paragraph("a", text("Read ", ["this", "bold"], " now"))]),
      paragraph("b", text("All")),
    );
    const remarks = [{ id: "2", node: "b" }, { id: "1", node: "a", quote: "this now" }];
    expect(view.showRemarks(remarks, "1")).toEqual(["1", "2"]);
    const marked = [...view.dom.querySelectorAll("[data-remark='1']")];
    expect(marked.map((one) => one.textContent)).toEqual(["this", " now"]);
    expect(marked[0]!.className).toBe("remark active");
    expect(view.dom.querySelector("[data-remark='2']")!.className).toBe("remark whole");
    view.showRemarks([]);
    expect(view.dom.querySelector("[data-remark]")).toBeNull();
    expect(view.dom.textContent).toBe("Read this nowAll");
  });

  test("the selection is a block and the text in it", async () => {
    const view = await show(
      paragraph("a", text("One two ", ["three", "bold"])),
      paragraph("b", text("Four")),
    );
    const [first, bold] = textsOf(view.dom);
    select([first!, 4], [bold!, 3]);
    expect(view.chosen()).toEqual({ block: "a", words: "One two three", quote: "two thr" });
    select([first!, 4], [first!, 4]);
    expect(view.chosen()).toBeUndefined();
    view.dom.querySelectorAll("p")[1]!.click();
    expect(view.chosen()).toEqual({ block: "b", words: "Four" });
  });

  test("another version keeps the elements of unchanged blocks, and their positions", async () => {
    const [one, three] = [paragraph("a", text("One")), paragraph("c", text("Three"))];
    const view = await show(one, three);
    const [first, last] = view.dom.children;
    await view.update(page(one, paragraph("b", text("Two, longer")), three));
    expect([...view.dom.children].map((each) => each.textContent)).toEqual(["One", "Two, longer", "Three"]);
    expect([view.dom.children[0], view.dom.children[2]]).toEqual([first, last]);
    const [, , words] = textsOf(view.dom);
    select([words!, 0], [words!, 5]);
    expect(view.chosen()).toEqual({ block: "c", words: "Three", quote: "Three" });
    await view.update(page(three));
    expect(view.dom.textContent).toBe("Three");
    expect(view.nodeDOM(0)).toBe(last);
    view.destroy();
    expect(view.dom.childNodes.length).toBe(0);
  });

  test("a break is a break", async () => {
    const view = await show(paragraph("a", text("One\nTwo")));
    expect(view.dom.querySelector("p")!.innerHTML).toBe("One<br>Two");
  });

  test("merged cells are one, and those under them are hidden", async () => {
    const cell = (fragment: string, ...words: string[]) => ({
      object: "fragment",
      fragment,
      type: "cell",
      nodes: [paragraph(fragment, ...words.map((one) => text(one)))],
    });
    const column = (id: string, title: string) => [id, { id, title, type: "text" }];
    const row = (row: string) => [row, {
      orderIndex: row,
      values: { a: `${row}a`, b: `${row}b`, c: `${row}c` },
    }];
    const view = await show({
      ...block("table", "t", [], {
        view: { type: "grid", columns: ["a", "b", "c"], hideHeader: false },
        definition: Object.fromEntries([column("a", "Env"), column("b", "Where"), column("c", "")]),
        records: Object.fromEntries([row("1"), row("2")]),
      }),
      isVoid: true,
      meta: { attributes: { "colspan-b": "2", "rowspan-1c": "2" } },
      fragments: [
        cell("1a", "S"),
        cell("1b", "r"),
        cell("1c", "A"),
        cell("2a", "T"),
        cell("2b", "m"),
        cell("2c"),
      ],
    });
    const shown = [...view.dom.querySelectorAll<HTMLTableCellElement>("tr > *")].filter((one) => !one.hidden);
    expect(shown.map((one) => [one.textContent, one.colSpan, one.rowSpan])).toEqual([
      ["Env", 1, 1],
      ["Where", 2, 1],
      ["S", 1, 1],
      ["r", 1, 1],
      ["A", 1, 2],
      ["T", 1, 1],
      ["m", 1, 1],
    ]);
  });

  test("a footnote without words is a number with its text", async () => {
    const body = {
      object: "fragment",
      fragment: "1",
      type: "annotation-body",
      nodes: [paragraph("b", text("The note."))],
    };
    const note = {
      object: "inline",
      type: "annotation",
      isVoid: false,
      data: {},
      nodes: [],
      fragments: [body],
    };
    const view = await show(paragraph("a", text("Word"), note, text(".")));
    expect(view.dom.querySelector<HTMLElement>("sup.note-number")!.title).toBe("The note.");
  });

  /** Return the elements of a page without those that only the editor adds between them. */
  const drawn = (element: Element): string =>
    element.innerHTML.replace(/<(br|img) class="ProseMirror-[^>]*>/g, "").replace(
      / (?:contenteditable|draggable|class|dir)="[^"]*"/g,
      "",
    );

  const documents = JSON.parse(readFileSync("generated/documents.json", "utf8")) as Record<
    string,
    DocumentJson
  >;
  const place = () => document.createElement("div");
  test.each(Object.entries(documents))("%s is read with the elements of the editor", async (_, given) => {
    const doc = readDocument(given);
    // The editor shows a card for what it can't write.
    if (doc.toString().includes("opaque")) return;
    const edited = mountPage(place(), { doc, lookup });
    const view = await showPage(place(), given, { lookup });
    await Promise.resolve();
    expect(drawn(view.dom)).toBe(drawn(edited.dom));
  });
});
