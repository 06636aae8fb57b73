/**
 * Converts HTML from other apps. The schema is the filter: an element without a rule becomes its text, an attribute
 * that no rule reads is dropped, and URLs are checked by `safeUrl`.
 */
import {
  DOMParser,
  Fragment,
  type Node,
  type ParseRule,
  type Schema,
  type TagParseRule,
} from "prosemirror-model";
import { safeUrl } from "./drawing.ts";
import type { Data, Json } from "./types.ts";

type Read = (element: HTMLElement) => Record<string, Json | undefined> | false;

function rule(tag: string, data: Read = () => ({}), more: Partial<TagParseRule> = {}): TagParseRule {
  return {
    tag,
    getAttrs: (element) => {
      const found = data(element as HTMLElement);
      return found === false ? false : { data: found };
    },
    ...more,
  };
}

const heading = (level: number, of: number): TagParseRule =>
  rule(`h${level}`, () => (level - 1 === of || (level === 1 && of === 1) ? {} : { level }));

const BLOCKS: Record<string, TagParseRule[]> = {
  paragraph: [rule("p", (element) => (element.closest(".hint-title") ? false : {}))],
  "heading-1": [heading(1, 1), heading(2, 1)],
  "heading-2": [heading(3, 2)],
  "heading-3": [heading(4, 3), rule("h5", () => ({ level: 5 })), rule("h6", () => ({ level: 6 }))],
  "list-tasks": [rule("ul", (element) => (isTaskList(element) ? {} : false))],
  "list-ordered": [
    rule("ol", (element) => {
      const start = Number(element.getAttribute("start") ?? 1);
      return Number.isInteger(start) && start > 1 && start < 1e9 ? { start } : {};
    }),
  ],
  "list-unordered": [rule("ul", (element) => (isTaskList(element) ? false : {}))],
  "list-item": [
    rule("li", (element) => {
      const box = element.querySelector<HTMLInputElement>(
        ':scope > input[type="checkbox"], :scope > :is(p, label) > input[type="checkbox"]',
      );
      if (box !== null) return { checked: box.checked || box.hasAttribute("checked") };
      const value = element.getAttribute("data-checked");
      return value === null ? {} : { checked: value === "true" };
    }),
  ],
  blockquote: [rule("blockquote")],
  divider: [rule("hr")],
  math: [rule("div[data-formula]", formulaOf)],
  hint: [
    rule("div.hint", (element) => ({ style: styleOf(element.className) }), { contentElement: ".hint-body" }),
    rule("div.markdown-alert", (element) => ({ style: styleOf(element.className) })),
    rule("aside", () => ({ style: "info" })),
  ],
  code: [
    {
      tag: "pre",
      getAttrs: (element) => ({ data: syntaxOf(element as HTMLElement) }),
      getContent: (element, schema) => lines(element as HTMLElement, schema),
    },
  ],
  images: [
    {
      tag: "figure",
      getAttrs: (element) => (picturesIn(element as HTMLElement).length ? {} : false),
      getContent: (element, schema) => imagesOf(element as HTMLElement, schema),
    },
  ],
  table: [
    {
      tag: "table",
      getAttrs: (element) => ({
        data: { view: { type: "grid", hideHeader: rowsOf(element as HTMLTableElement).length === 0 } },
      }),
      getContent: (element, schema) => tableContent(element as HTMLTableElement, schema),
    },
  ],
  expandable: [
    {
      tag: "details",
      getContent: (element, schema) => detailsContent(element as HTMLElement, schema),
    },
  ],
};

function pictureOf(element: HTMLElement): Data | undefined {
  const url = safeUrl(element.getAttribute("src"));
  // An image that is embedded in the page has no URL to keep.
  if (url === undefined || !/^(https?:)?\/\//i.test(url)) return undefined;
  const alt = element.getAttribute("alt");
  const width = Number(/^[1-9]\d{0,4}$/.exec(element.getAttribute("width") ?? "")?.[0] ?? 0);
  return {
    ref: { kind: "url", url: url.startsWith("//") ? `https:${url}` : url },
    ...(alt ? { alt } : {}),
    ...(width ? { width } : {}),
  };
}

function picturesIn(figure: HTMLElement): Data[] {
  return [...figure.querySelectorAll("img")].map(pictureOf).filter((each) => each !== undefined);
}

/** Return the images of a figure, with its caption. */
function imagesOf(figure: HTMLElement, schema: Schema): Fragment {
  const { image, caption, paragraph } = schema.nodes;
  const text = figure.querySelector("figcaption")?.textContent?.replace(/\s+/g, " ").trim();
  const below = text ? [caption!.create(null, paragraph!.create(null, schema.text(text)))] : [];
  const found = picturesIn(figure);
  return Fragment.from(
    found.map((data, at) => image!.create({ data }, at === found.length - 1 ? below : [])),
  );
}

const INLINES: Record<string, TagParseRule[]> = {
  "inline-image": [rule("img", (element) => pictureOf(element) ?? false)],
  "inline-math": [rule("span[data-formula]", formulaOf)],
};

/** Return the data of a formula that `arrange` (editor/pasted.ts) created for another app's formula; false for other
 * elements. */
function formulaOf(element: HTMLElement): Data | false {
  const formula = element.dataset.formula?.trim();
  return formula ? { formula } : false;
}

function rowsOf(table: HTMLTableElement): HTMLTableRowElement[] {
  return [...table.querySelectorAll("tr")].filter((row) => row.closest("table") === table);
}

/** Return the cells of an HTML table row by row. A spanning cell is at its first position; the other positions that
 * it covers are null. */
function cellsOf(element: HTMLTableElement): (HTMLTableCellElement | null)[][] {
  return rowsOf(element).map((row) =>
    [...row.cells].flatMap((
      cell,
    ) => [cell, ...Array<null>(Math.min(Math.max(cell.colSpan - 1, 0), 100)).fill(null)])
  );
}

/** Return the text and blocks of each cell of a table, for pasting into another table. */
export function readCells(element: HTMLTableElement, schema: Schema): { text: string; blocks: Node[] }[][] {
  return cellsOf(element).map((row) =>
    row.map((cell) => ({
      text: cell?.textContent?.trim() ?? "",
      blocks: cell ? parseBlocks(cell, schema) : [],
    }))
  );
}

/** Return the key of a column of a new table, like the server's name of it. */
const columnKey = (index: number): string => `c${index + 1}`;

/** Parse a pasted table. Missing cells at the end of a row are empty. */
function tableContent(element: HTMLTableElement, schema: Schema): Fragment {
  const { table_head, table_heading, table_row, table_cell, paragraph } = schema.nodes;
  const rows = cellsOf(element);
  const width = Math.min(200, rows.reduce((most, row) => Math.max(most, row.length), 1));
  const headed =
    rows[0]?.every((cell) => cell === null || cell.tagName === "TH" || cell.closest("thead") !== null) ??
      false;
  const first = headed || rows.length > 1 ? rows.shift()! : [];
  const heads = Array.from({ length: width }, (_, at) => {
    const text = first[at]?.textContent?.replace(/\s+/g, " ").trim();
    return table_heading!.create({ col: columnKey(at) }, text ? schema.text(text) : null);
  });
  const body = rows.slice(0, 5000).map((row) =>
    table_row!.create(
      null,
      Array.from({ length: width }, (_, at) => {
        const cell = row[at];
        const blocks = cell ? parseBlocks(cell, schema) : [];
        return table_cell!.create({ col: columnKey(at) }, blocks.length ? blocks : paragraph!.create());
      }),
    )
  );
  return Fragment.from([table_head!.create(null, heads), ...body]);
}

function parseBlocks(element: HTMLElement, schema: Schema): Node[] {
  const found: Node[] = [];
  DOMParser.fromSchema(schema).parse(element, { topNode: schema.nodes.table_cell!.create() }).forEach((
    node,
  ) => found.push(node));
  return found;
}

function detailsContent(element: HTMLElement, schema: Schema): Fragment {
  const { expandable_title, expandable_body, paragraph } = schema.nodes;
  const title = element.querySelector(":scope > summary")?.textContent?.replace(/\s+/g, " ").trim();
  const body = element.cloneNode(true) as HTMLElement;
  body.querySelector(":scope > summary")?.remove();
  const blocks = parseBlocks(body, schema);
  return Fragment.from([
    expandable_title!.create(null, paragraph!.create(null, title ? schema.text(title) : null)),
    expandable_body!.create(null, blocks.length ? blocks : paragraph!.create()),
  ]);
}

/** Parse code line by line. If each line is its own element, as in file views, there are no line breaks between
 * them. */
function lines(element: HTMLElement, schema: Schema): Fragment {
  element.querySelectorAll("br").forEach((each) => each.replaceWith("\n"));
  const text = (element.textContent ?? "").replace(/\r\n?/g, "\n").replace(/^\n|\n$/g, "");
  return Fragment.from(
    text.split("\n").map((line) => schema.nodes.code_line!.create(null, line ? schema.text(line) : null)),
  );
}

function isTaskList(element: HTMLElement): boolean {
  return element.matches('.tasks, .contains-task-list, [data-type="taskList"]') ||
    element.querySelector(':scope > li > input[type="checkbox"]') !== null;
}

function styleOf(names: string): string {
  if (/danger|caution|error/.test(names)) return "danger";
  if (/warn|important/.test(names)) return "warning";
  return /success|tip/.test(names) ? "success" : "info";
}

function syntaxOf(element: HTMLElement): Data {
  const names = `${element.className} ${element.firstElementChild?.className ?? ""} ${
    element.parentElement?.className ?? ""
  }`;
  const syntax = /(?:language|lang|highlight-source)-([\w+#-]+)/.exec(names)?.[1] ??
    element.getAttribute("lang");
  return syntax ? { syntax } : {};
}

/** Return a rule for styles in pasted HTML. They are read as text, because the app's policy blocks them as styles
 * (see `clipboard.ts`). */
function styled(pattern: RegExp): TagParseRule {
  return {
    tag: "[data-style]",
    consuming: false,
    getAttrs: (element) => (pattern.test(element.dataset.style ?? "") ? null : false),
  };
}

const MARKS: Record<string, ParseRule[]> = {
  bold: [
    { tag: "strong" },
    // Google Docs wraps everything in a <b> that isn't bold.
    {
      tag: "b",
      getAttrs: (element) => (/font-weight:\s*(normal|400)/.test(element.dataset.style ?? "") ? false : null),
    },
    styled(/font-weight:\s*(bold|[6-9]00)/),
  ],
  italic: [{ tag: "em" }, { tag: "i", getAttrs: (element) => (element.textContent ? null : false) }, {
    style: "font-style=italic",
  }],
  code: [
    { tag: "code" },
    { tag: "tt" },
    { tag: "samp" },
    styled(/font-family:[^;]*(mono|courier|consolas|menlo)/i),
  ],
  keyboard: [{ tag: "kbd" }],
  strikethrough: [
    { tag: "s" },
    { tag: "del" },
    { tag: "strike" },
    styled(/text-decoration(-line)?:[^;]*line-through/),
  ],
  superscript: [{ tag: "sup" }, styled(/vertical-align:\s*super/)],
  subscript: [{ tag: "sub" }, styled(/vertical-align:\s*sub(;|$)/)],
  link: [
    {
      tag: "a[href]",
      getAttrs: (element) => {
        const url = safeUrl(element.getAttribute("href"));
        if (url === undefined || url.startsWith("#")) return false;
        const title = element.getAttribute("title");
        return { uid: ++pasted, data: { ref: { kind: "url", url }, ...(title ? { title } : {}) } };
      },
    },
  ],
};

/** The last number of a pasted link or annotation. These numbers are lower than those from `uid`, so that both are
 * unique. */
let pasted = -1e9;

export function blockRules(type: string): TagParseRule[] {
  return BLOCKS[type] ?? [];
}

export function inlineRules(type: string): TagParseRule[] {
  return INLINES[type] ?? [];
}

export function markRules(type: string): ParseRule[] {
  return MARKS[type] ?? [];
}
