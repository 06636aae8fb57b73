/** The slash menu: every type of block, by its own names and the names that other apps use. */
import type { Node } from "prosemirror-model";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import { newTable } from "./tablecommands.ts";
import { code } from "./typing.ts";

export interface Insert {
  /** The title of the block, which is also the name of the option. */
  title: string;
  line: string;
  group: string;
  /** Other English names, for people who know the block from other apps. */
  also: string;
  /** The text that creates the block when typed, shown at the end of the row. */
  typed?: string;
  icon: string;
  /** Create the block. Undefined if it needs input, which `ask` requests. */
  make?: () => Node;
  ask?: "image" | "file" | "link" | "page";
}

const { nodes } = schema;
const paragraph = (): Node => nodes.paragraph!.create();
const list = (type: string, data = {}): Node =>
  nodes[type]!.create(null, nodes.list_item!.create({ data }, paragraph()));
const titled = (type: string, title: string): Node => nodes[type]!.create({ data: { title } }, paragraph());
const hint = (style: string): Node => nodes.hint!.create({ data: { style } }, paragraph());

export const INSERTS: Insert[] = [
  {
    title: t("text"),
    line: t("plainText"),
    group: t("text"),
    also: "text paragraph plain",
    icon: "paragraph",
    make: paragraph,
  },
  {
    title: t("heading1"),
    line: t("largeSectionHeading"),
    group: t("text"),
    also: "heading 1 h1 h2 title",
    typed: "##",
    icon: "heading",
    make: () => nodes.heading_1!.create(),
  },
  {
    title: t("heading2"),
    line: t("mediumSectionHeading"),
    group: t("text"),
    also: "heading 2 h2 h3 subtitle",
    typed: "###",
    icon: "heading",
    make: () => nodes.heading_2!.create(),
  },
  {
    title: t("heading3"),
    line: t("smallSectionHeading"),
    group: t("text"),
    also: "heading 3 h3 h4",
    typed: "####",
    icon: "heading",
    make: () => nodes.heading_3!.create(),
  },
  {
    title: t("bulletedList"),
    line: t("unorderedItems"),
    group: t("text"),
    also: "bulleted list unordered ul points",
    typed: "-",
    icon: "list-ul",
    make: () => list("list_unordered"),
  },
  {
    title: t("numberedList"),
    line: t("orderedItems"),
    group: t("text"),
    also: "numbered list ordered ol steps",
    typed: "1.",
    icon: "list-ol",
    make: () => list("list_ordered"),
  },
  {
    title: t("taskList"),
    line: t("tasksWithCheckboxes"),
    group: t("text"),
    also: "task list todo checkbox check",
    typed: "[]",
    icon: "list-check",
    make: () => list("list_tasks", { checked: false }),
  },
  {
    title: t("quote"),
    line: t("quotedText"),
    group: t("text"),
    also: "quote blockquote citation",
    typed: ">",
    icon: "quote-left",
    make: () => nodes.blockquote!.create(null, paragraph()),
  },
  {
    title: t("divider"),
    line: t("horizontalLine"),
    group: t("text"),
    also: "divider rule separator hr",
    typed: "---",
    icon: "minus",
    make: () => nodes.divider!.create(),
  },
  {
    title: t("code"),
    line: t("codeWithSyntaxHighlighting"),
    group: t("blocks"),
    also: "code snippet listing pre",
    typed: "```",
    icon: "code",
    make: () => code(""),
  },
  {
    title: t("page"),
    line: t("newSubpageLinkedHere"),
    group: t("blocks"),
    also: "page subpage child new document",
    icon: "file-lines",
    ask: "page",
  },
  {
    title: t("table"),
    line: t("rowsAndColumns"),
    group: t("blocks"),
    also: "table grid database spreadsheet",
    typed: "|||",
    icon: "table",
    make: () => newTable(3, 2),
  },
  {
    title: t("hint"),
    line: t("informationThatStandsOut"),
    group: t("blocks"),
    also: "hint info note callout admonition",
    icon: "circle-info",
    make: () => hint("info"),
  },
  {
    title: t("warning"),
    line: t("somethingToWatchOutFor"),
    group: t("blocks"),
    also: "warning hint caution callout alert",
    icon: "triangle-exclamation",
    make: () => hint("warning"),
  },
  {
    title: t("danger"),
    line: t("somethingWithSeriousConsequences"),
    group: t("blocks"),
    also: "danger hint error callout",
    icon: "circle-exclamation",
    make: () => hint("danger"),
  },
  {
    title: t("success"),
    line: t("somethingThatWentWell"),
    group: t("blocks"),
    also: "success hint tip callout",
    icon: "circle-check",
    make: () => hint("success"),
  },
  {
    title: t("image"),
    line: t("imageWithCaption"),
    group: t("blocks"),
    also: "image picture photo screenshot upload",
    icon: "image",
    ask: "image",
  },
  {
    title: t("file"),
    line: t("fileForDownload"),
    group: t("blocks"),
    also: "file attachment upload pdf",
    icon: "file",
    ask: "file",
  },
  {
    title: t("tabs"),
    line: t("alternativeVersionsOfSameContent"),
    group: t("blocks"),
    also: "tabs versions languages",
    icon: "folder",
    make: () => nodes.tabs!.create(null, [titled("tabs_item", t("first")), titled("tabs_item", t("second"))]),
  },
  {
    title: t("details"),
    line: t("collapsibleContent"),
    group: t("blocks"),
    also: "details expandable accordion toggle collapse summary",
    icon: "square-caret-down",
    make: expandable,
  },
  {
    title: t("stepper"),
    line: t("numberedSteps"),
    group: t("blocks"),
    also: "stepper steps guide how-to",
    icon: "stairs",
    make: stepper,
  },
  {
    title: t("columns"),
    line: t("contentSideBySide"),
    group: t("blocks"),
    also: "columns layout grid",
    icon: "table-columns",
    make: () =>
      nodes.columns!.create(null, [
        nodes.column!.create(null, paragraph()),
        nodes.column!.create(null, paragraph()),
      ]),
  },
  {
    title: t("cards"),
    line: t("cardsInGrid"),
    group: t("blocks"),
    also: "cards table gallery",
    icon: "grip",
    make: cards,
  },
  {
    title: t("embed"),
    line: t("videoOrContentFromAnother"),
    group: t("blocks"),
    also: "embed youtube video figma link",
    icon: "film",
    ask: "link",
  },
  {
    title: t("formula"),
    line: t("mathInTeXSyntax"),
    group: t("blocks"),
    also: "formula math equation latex katex",
    typed: "$$",
    icon: "square-root-variable",
    make: () => nodes.math!.create({ data: { formula: "a^2 + b^2 = c^2" } }),
  },
  {
    title: t("diagram"),
    line: t("diagramInMermaidSyntax"),
    group: t("blocks"),
    also: "diagram mermaid chart flow graph drawing",
    icon: "diagram-project",
    make: diagram,
  },
  {
    title: t("condition"),
    line: t("contentForSomeVisitorsOnly"),
    group: t("blocks"),
    also: "condition if adaptive visitor",
    icon: "eye",
    make: () => nodes.if!.create({ data: { expression: "visitor.claims.beta" } }, paragraph()),
  },
  {
    title: t("forAgents"),
    line: t("visibleInMarkdownForAgents"),
    group: t("blocks"),
    also: "agents programs assistants condition markdown llms",
    icon: "robot",
    make: () => nodes.if!.create({ data: { expression: "visitor.agent" } }, paragraph()),
  },
  {
    title: t("forPeople"),
    line: t("visibleOnPageButNot"),
    group: t("blocks"),
    also: "people humans condition page",
    icon: "user",
    make: () => nodes.if!.create({ data: { expression: "!visitor.agent" } }, paragraph()),
  },
  {
    title: t("updates"),
    line: t("changelogWithDatedEntries"),
    group: t("blocks"),
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

/** Return the options that match the typed text: by name first, then by other names. */
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
