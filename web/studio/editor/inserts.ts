/** What the slash menu offers: every kind of block, by names and by what people call it elsewhere. */
import type { Node } from "prosemirror-model";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import { newTable } from "./tablecommands.ts";
import { code } from "./typing.ts";

export interface Insert {
  /** Also the name of the option. */
  title: string;
  line: string;
  group: string;
  /** Other words that find it, in English for whoever knows them from elsewhere. */
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
    title: t("Text"),
    line: t("A paragraph"),
    group: t("Text"),
    also: "text paragraph plain",
    icon: "paragraph",
    make: paragraph,
  },
  {
    title: t("Heading 1"),
    line: t("A section"),
    group: t("Text"),
    also: "heading 1 h1 h2 title",
    typed: "##",
    icon: "heading",
    make: () => nodes.heading_1!.create(),
  },
  {
    title: t("Heading 2"),
    line: t("A part of a section"),
    group: t("Text"),
    also: "heading 2 h2 h3 subtitle",
    typed: "###",
    icon: "heading",
    make: () => nodes.heading_2!.create(),
  },
  {
    title: t("Heading 3"),
    line: t("A smaller part"),
    group: t("Text"),
    also: "heading 3 h3 h4",
    typed: "####",
    icon: "heading",
    make: () => nodes.heading_3!.create(),
  },
  {
    title: t("Bulleted list"),
    line: t("Points without an order"),
    group: t("Text"),
    also: "bulleted list unordered ul points",
    typed: "-",
    icon: "list-ul",
    make: () => list("list_unordered"),
  },
  {
    title: t("Numbered list"),
    line: t("Points in an order"),
    group: t("Text"),
    also: "numbered list ordered ol steps",
    typed: "1.",
    icon: "list-ol",
    make: () => list("list_ordered"),
  },
  {
    title: t("Task list"),
    line: t("Things to tick off"),
    group: t("Text"),
    also: "task list todo checkbox check",
    typed: "[]",
    icon: "list-check",
    make: () => list("list_tasks", { checked: false }),
  },
  {
    title: t("Quote"),
    line: t("Words of somebody else"),
    group: t("Text"),
    also: "quote blockquote citation",
    typed: ">",
    icon: "quote-left",
    make: () => nodes.blockquote!.create(null, paragraph()),
  },
  {
    title: t("Divider"),
    line: t("A line across"),
    group: t("Text"),
    also: "divider rule separator hr",
    typed: "---",
    icon: "minus",
    make: () => nodes.divider!.create(),
  },
  {
    title: t("Code"),
    line: t("A listing in a language"),
    group: t("Blocks"),
    also: "code snippet listing pre",
    typed: "```",
    icon: "code",
    make: () => code(""),
  },
  {
    title: t("Table"),
    line: t("Rows and columns"),
    group: t("Blocks"),
    also: "table grid database spreadsheet",
    typed: "|||",
    icon: "table",
    make: () => newTable(3, 2),
  },
  {
    title: t("Hint"),
    line: t("A word beside the text"),
    group: t("Blocks"),
    also: "hint info note callout admonition",
    icon: "circle-info",
    make: () => hint("info"),
  },
  {
    title: t("Warning"),
    line: t("Something to mind"),
    group: t("Blocks"),
    also: "warning hint caution callout alert",
    icon: "triangle-exclamation",
    make: () => hint("warning"),
  },
  {
    title: t("Danger"),
    line: t("Something to keep from"),
    group: t("Blocks"),
    also: "danger hint error callout",
    icon: "circle-exclamation",
    make: () => hint("danger"),
  },
  {
    title: t("Success"),
    line: t("Something that went well"),
    group: t("Blocks"),
    also: "success hint tip callout",
    icon: "circle-check",
    make: () => hint("success"),
  },
  {
    title: t("Image"),
    line: t("A picture with its caption"),
    group: t("Blocks"),
    also: "image picture photo screenshot upload",
    icon: "image",
    ask: "image",
  },
  {
    title: t("File"),
    line: t("Something to download"),
    group: t("Blocks"),
    also: "file attachment upload pdf",
    icon: "file",
    ask: "file",
  },
  {
    title: t("Tabs"),
    line: t("Several versions of one text"),
    group: t("Blocks"),
    also: "tabs versions languages",
    icon: "folder",
    make: () => nodes.tabs!.create(null, [titled("tabs_item", t("First")), titled("tabs_item", t("Second"))]),
  },
  {
    title: t("Details"),
    line: t("Text that unfolds"),
    group: t("Blocks"),
    also: "details expandable accordion toggle collapse summary",
    icon: "square-caret-down",
    make: expandable,
  },
  {
    title: t("Stepper"),
    line: t("Steps with numbers"),
    group: t("Blocks"),
    also: "stepper steps guide how-to",
    icon: "stairs",
    make: stepper,
  },
  {
    title: t("Columns"),
    line: t("Two texts side by side"),
    group: t("Blocks"),
    also: "columns layout grid",
    icon: "table-columns",
    make: () =>
      nodes.columns!.create(null, [
        nodes.column!.create(null, paragraph()),
        nodes.column!.create(null, paragraph()),
      ]),
  },
  {
    title: t("Cards"),
    line: t("A row of cards"),
    group: t("Blocks"),
    also: "cards table gallery",
    icon: "grip",
    make: cards,
  },
  {
    title: t("Embed"),
    line: t("A video or a page from elsewhere"),
    group: t("Blocks"),
    also: "embed youtube video figma link",
    icon: "film",
    ask: "link",
  },
  {
    title: t("Formula"),
    line: t("Mathematics in TeX"),
    group: t("Blocks"),
    also: "formula math equation latex katex",
    typed: "$$",
    icon: "square-root-variable",
    make: () => nodes.math!.create({ data: { formula: "a^2 + b^2 = c^2" } }),
  },
  {
    title: t("Diagram"),
    line: t("Drawn by Mermaid"),
    group: t("Blocks"),
    also: "diagram mermaid chart flow graph drawing",
    icon: "diagram-project",
    make: diagram,
  },
  {
    title: t("Condition"),
    line: t("Text for some readers alone"),
    group: t("Blocks"),
    also: "condition if adaptive visitor",
    icon: "eye",
    make: () => nodes.if!.create({ data: { expression: "visitor.claims.beta" } }, paragraph()),
  },
  {
    title: t("For programs"),
    line: t("In the Markdown that programs read, not on the page"),
    group: t("Blocks"),
    also: "agents programs assistants condition markdown llms",
    icon: "robot",
    make: () => nodes.if!.create({ data: { expression: "visitor.agent" } }, paragraph()),
  },
  {
    title: t("For people"),
    line: t("On the page, not in the Markdown that programs read"),
    group: t("Blocks"),
    also: "people humans condition page",
    icon: "user",
    make: () => nodes.if!.create({ data: { expression: "!visitor.agent" } }, paragraph()),
  },
  {
    title: t("Updates"),
    line: t("Entries with a date"),
    group: t("Blocks"),
    also: "updates changelog news release",
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
