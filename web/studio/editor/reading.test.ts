import { describe, expect, test } from "vitest";
import { readDocument } from "../document/convert.ts";
import type { DocumentJson } from "../document/types.ts";
import type { Lookup } from "./lookup.ts";
import { ReadingView } from "./reading.ts";

const never = new Promise<never>(() => {});
const lookup = {
  href: () => "/s/space",
  asset: () => never,
  target: () => never,
  value: () => never,
  reusable: () => never,
  onchange: () => () => {},
} as unknown as Lookup;

/** Return a text of parts: words, and words with marks. */
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
const page = (...nodes: unknown[]) => readDocument({ object: "document", nodes } as unknown as DocumentJson);

function show(...nodes: unknown[]) {
  const place = document.body.appendChild(document.createElement("div"));
  return new ReadingView(place, { doc: page(...nodes), lookup });
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
  test("adjacent texts with the same mark are in one element", () => {
    const view = show(paragraph("a", text("One ", ["two ", "bold"], ["three", "bold", "italic"])));
    expect(view.dom.querySelector("p")!.innerHTML).toBe("One <strong>two <em>three</em></strong>");
    expect(view.dom.querySelector("p")!.getAttribute("dir")).toBe("auto");
  });

  test("code is colored in its language", () => {
    const line = block("code-line", "b", [text("return 1  # one")]);
    const view = show(block("code", "a", [line], { syntax: "python" }));
    expect([...view.dom.querySelectorAll(".line span")].map((one) => `${one.className} ${one.textContent}`))
      .toEqual(["k return", "m 1", "c # one"]);
  });

  test("threads are marked in the text and on whole blocks", () => {
    const view = show(
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

  test("the selection is a block and the text in it", () => {
    const view = show(paragraph("a", text("One two ", ["three", "bold"])), paragraph("b", text("Four")));
    const [first, bold] = textsOf(view.dom);
    select([first!, 4], [bold!, 3]);
    expect(view.chosen()).toEqual({ block: "a", words: "One two three", quote: "two thr" });
    select([first!, 4], [first!, 4]);
    expect(view.chosen()).toBeUndefined();
    view.dom.querySelectorAll("p")[1]!.click();
    expect(view.chosen()).toEqual({ block: "b", words: "Four" });
  });

  test("another version keeps the elements of unchanged blocks, and their positions", () => {
    const [one, three] = [paragraph("a", text("One")), paragraph("c", text("Three"))];
    const view = show(one, three);
    const [first, last] = view.dom.children;
    view.update(page(one, paragraph("b", text("Two, longer")), three));
    expect([...view.dom.children].map((each) => each.textContent)).toEqual(["One", "Two, longer", "Three"]);
    expect([view.dom.children[0], view.dom.children[2]]).toEqual([first, last]);
    const [, , words] = textsOf(view.dom);
    select([words!, 0], [words!, 5]);
    expect(view.chosen()).toEqual({ block: "c", words: "Three", quote: "Three" });
    view.update(page(three));
    expect(view.dom.textContent).toBe("Three");
    expect(view.nodeDOM(0)).toBe(last);
    view.destroy();
    expect(view.dom.childNodes.length).toBe(0);
  });
});
