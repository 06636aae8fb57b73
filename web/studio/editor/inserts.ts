/** What the slash menu offers: every kind of block, by names and by what people call it elsewhere. */
import type { Node } from "prosemirror-model";
import { schema } from "../document/schema.ts";
import { newTable } from "./tables.ts";
import { code } from "./typing.ts";

export interface Insert {
  /** Also the name of the option. */
  title: string;
  line: string;
  group: string;
  /** Other words that find it. */
  also: string;
  /** What is typed for it, shown at the end. */
  typed?: string;
  icon: string;
  /** Undefined: it needs something from whoever writes, which `ask` gets. */
  make?: () => Node;
  ask?: "image" | "file" | "link";
}

const { nodes } = schema;
const paragraph = (): Node => nodes.paragraph!.create();
const list = (type: string, data = {}): Node =>
  nodes[type]!.create(null, nodes.list_item!.create({ data }, paragraph()));
const titled = (type: string, title: string): Node => nodes[type]!.create({ data: { title } }, paragraph());
const hint = (style: string): Node => nodes.hint!.create({ data: { style } }, paragraph());

export const INSERTS: Insert[] = [
  {
    title: "Text",
    line: "A paragraph",
    group: "Text",
    also: "paragraph plain",
    icon: "paragraph",
    make: paragraph,
  },
  {
    title: "Heading 1",
    line: "A section",
    group: "Text",
    also: "h1 h2 title",
    typed: "##",
    icon: "heading",
    make: () => nodes.heading_1!.create(),
  },
  {
    title: "Heading 2",
    line: "A part of a section",
    group: "Text",
    also: "h2 h3 subtitle",
    typed: "###",
    icon: "heading",
    make: () => nodes.heading_2!.create(),
  },
  {
    title: "Heading 3",
    line: "A smaller part",
    group: "Text",
    also: "h3 h4",
    typed: "####",
    icon: "heading",
    make: () => nodes.heading_3!.create(),
  },
  {
    title: "Bulleted list",
    line: "Points without an order",
    group: "Text",
    also: "unordered ul points",
    typed: "-",
    icon: "list-ul",
    make: () => list("list_unordered"),
  },
  {
    title: "Numbered list",
    line: "Points in an order",
    group: "Text",
    also: "ordered ol steps",
    typed: "1.",
    icon: "list-ol",
    make: () => list("list_ordered"),
  },
  {
    title: "Task list",
    line: "Things to tick off",
    group: "Text",
    also: "todo checkbox check",
    typed: "[]",
    icon: "list-check",
    make: () => list("list_tasks", { checked: false }),
  },
  {
    title: "Quote",
    line: "Words of somebody else",
    group: "Text",
    also: "blockquote citation",
    typed: ">",
    icon: "quote-left",
    make: () => nodes.blockquote!.create(null, paragraph()),
  },
  {
    title: "Divider",
    line: "A line across",
    group: "Text",
    also: "rule separator hr",
    typed: "---",
    icon: "minus",
    make: () => nodes.divider!.create(),
  },
  {
    title: "Code",
    line: "A listing in a language",
    group: "Blocks",
    also: "snippet listing pre",
    typed: "```",
    icon: "code",
    make: () => code(""),
  },
  {
    title: "Table",
    line: "Rows and columns",
    group: "Blocks",
    also: "grid database spreadsheet",
    typed: "|||",
    icon: "table",
    make: () => newTable(3, 2),
  },
  {
    title: "Hint",
    line: "A word beside the text",
    group: "Blocks",
    also: "info note callout admonition",
    icon: "circle-info",
    make: () => hint("info"),
  },
  {
    title: "Warning",
    line: "Something to mind",
    group: "Blocks",
    also: "hint caution callout alert",
    icon: "triangle-exclamation",
    make: () => hint("warning"),
  },
  {
    title: "Danger",
    line: "Something to keep from",
    group: "Blocks",
    also: "hint error callout",
    icon: "circle-exclamation",
    make: () => hint("danger"),
  },
  {
    title: "Success",
    line: "Something that went well",
    group: "Blocks",
    also: "hint tip callout",
    icon: "circle-check",
    make: () => hint("success"),
  },
  {
    title: "Image",
    line: "A picture with its caption",
    group: "Blocks",
    also: "picture photo screenshot upload",
    icon: "image",
    ask: "image",
  },
  {
    title: "File",
    line: "Something to download",
    group: "Blocks",
    also: "attachment upload pdf",
    icon: "file",
    ask: "file",
  },
  {
    title: "Tabs",
    line: "Several versions of one text",
    group: "Blocks",
    also: "versions languages",
    icon: "folder",
    make: () => nodes.tabs!.create(null, [titled("tabs_item", "First"), titled("tabs_item", "Second")]),
  },
  {
    title: "Details",
    line: "Text that unfolds",
    group: "Blocks",
    also: "expandable accordion toggle collapse summary",
    icon: "square-caret-down",
    make: expandable,
  },
  {
    title: "Stepper",
    line: "Steps with numbers",
    group: "Blocks",
    also: "steps guide how-to",
    icon: "stairs",
    make: stepper,
  },
  {
    title: "Columns",
    line: "Two texts side by side",
    group: "Blocks",
    also: "layout grid",
    icon: "table-columns",
    make: () =>
      nodes.columns!.create(null, [
        nodes.column!.create(null, paragraph()),
        nodes.column!.create(null, paragraph()),
      ]),
  },
  {
    title: "Cards",
    line: "A row of cards",
    group: "Blocks",
    also: "table gallery",
    icon: "grip",
    make: cards,
  },
  {
    title: "Embed",
    line: "A video or a page from elsewhere",
    group: "Blocks",
    also: "youtube video figma link",
    icon: "film",
    ask: "link",
  },
  {
    title: "Formula",
    line: "Mathematics in TeX",
    group: "Blocks",
    also: "math equation latex katex",
    typed: "$$",
    icon: "square-root-variable",
    make: () => nodes.math!.create({ data: { formula: "a^2 + b^2 = c^2" } }),
  },
  {
    title: "Diagram",
    line: "Drawn by Mermaid",
    group: "Blocks",
    also: "mermaid chart flow graph drawing",
    icon: "diagram-project",
    make: diagram,
  },
  {
    title: "Condition",
    line: "Text for some readers alone",
    group: "Blocks",
    also: "if adaptive visitor",
    icon: "eye",
    make: () => nodes.if!.create({ data: { expression: "visitor.claims.beta" } }, paragraph()),
  },
  {
    title: "Updates",
    line: "Entries with a date",
    group: "Blocks",
    also: "changelog news release",
    icon: "calendar",
    make: updates,
  },
];

function expandable(): Node {
  return nodes.expandable!.create(null, [
    nodes.expandable_title!.create(null, paragraph()),
    nodes.expandable_body!.create(null, paragraph()),
  ]);
}

function stepper(): Node {
  const step = (): Node => nodes.stepper_step!.create(null, [nodes.heading_2!.create(), paragraph()]);
  return nodes.stepper!.create(null, [step(), step()]);
}

function cards(): Node {
  const table = newTable(1, 3);
  return table.type.create({ data: { view: { type: "cards", cardSize: "medium" } } }, table.content);
}

function diagram(): Node {
  const lines = ["flowchart LR", "  A[First] --> B[Second]"].map((line) =>
    nodes.code_line!.create(null, schema.text(line))
  );
  return nodes.code_block!.create({ data: { syntax: "mermaid" } }, lines);
}

function updates(): Node {
  const date = new Date().toISOString().slice(0, 10);
  return nodes.updates!.create(null, nodes.update!.create({ data: { date } }, paragraph()));
}

/** Those that fit what was typed: by their name first, then by other words for them. */
export function findInserts(words: string): Insert[] {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return INSERTS;
  const rank = ({ title, also }: Insert): number => {
    const name = title.toLowerCase();
    if (name.startsWith(wanted)) return 0;
    if (name.includes(wanted)) return 1;
    const others = also.split(" ");
    if (others.some((word) => word.startsWith(wanted))) return 2;
    return 9;
  };
  return INSERTS.map((insert) => ({ insert, rank: rank(insert) })).filter((each) => each.rank < 9)
    .sort((one, other) => one.rank - other.rank || one.insert.title.localeCompare(other.insert.title)).map((
      each,
    ) => each.insert);
}
