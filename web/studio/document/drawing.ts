/**
 * Renders nodes with the elements and classes of the reader (`core/document/html.py`), so that its styles apply to
 * both. Nodes that need more in the editor (icons, images, tabs, tables) are rendered by a view in `editor/`.
 */
import type { DOMOutputSpec, Mark, Node } from "prosemirror-model";
import { table } from "./table.ts";
import type { Data, Ref } from "./types.ts";

export type Attributes = Record<string, string | null | undefined>;

const TAGS: Record<string, string> = {
  bold: "strong",
  italic: "em",
  code: "code",
  keyboard: "kbd",
  strikethrough: "s",
  superscript: "sup",
  subscript: "sub",
};

export function classes(...names: (string | false | null | undefined)[]): string | undefined {
  return names.filter(Boolean).join(" ") || undefined;
}

const ALIGNED: Record<string, string> = { center: "align-center", end: "align-end", right: "align-end" };

export function alignClass(data: Data): string | undefined {
  return ALIGNED[String(data.align ?? "")];
}

/** Return the level of a heading in the page. The page's title has level 1. */
export function headingLevel(node: Node): number {
  const usual = { heading_1: 2, heading_2: 3, heading_3: 4 }[node.type.name] ?? 2;
  const level = node.attrs.data.level;
  return typeof level === "number" ? Math.min(Math.max(level, 2), 6) : usual;
}

const SAFE = /^(?:https?:|mailto:|tel:|ftp:|\/\/|[^:]*$|[^:]*[/?#])/i;

/** Return a URL that is allowed in links and images, or undefined. */
export function safeUrl(url: unknown): string | undefined {
  return typeof url === "string" && SAFE.test(url.trim()) ? url : undefined;
}

export function urlOf(ref: unknown): string | undefined {
  const { kind, url } = (ref ?? {}) as Ref & { url?: string };
  return kind === "url" ? safeUrl(url) : undefined;
}

/** Return the characters of an emoji, given as characters or as code points (`1f1e9-1f1ea`). */
export function emojiText(code: unknown): string {
  if (typeof code !== "string") return "";
  if (!/^[0-9a-f]{2,6}(-[0-9a-f]{2,6}){0,15}$/i.test(code)) return code.length <= 16 ? code : "";
  const points = code.split("-").map((part) => parseInt(part, 16));
  const bad = points.some((point) =>
    point > 0x10ffff || point < 0x20 || (point >= 0xd800 && point <= 0xdfff)
  );
  return bad ? "" : String.fromCodePoint(...points);
}

/** Return the class of a color name, or undefined. */
export function colorClass(prefix: "c" | "b", color: unknown): string | undefined {
  if (typeof color !== "string" || color === "default" || !table.colors.includes(color)) return undefined;
  return `${prefix}-${color.replace("$", "")}`;
}

export function element(tag: string, attributes: Attributes, ...inside: unknown[]): DOMOutputSpec {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== null);
  return [tag, Object.fromEntries(given), ...inside] as unknown as DOMOutputSpec;
}

/** Render a block or an inline node of the types that most pages have; undefined for others. */
export function drawPlain(node: Node): DOMOutputSpec | undefined {
  const data = (node.attrs.data ?? {}) as Data;
  switch (node.type.name) {
    case "paragraph":
      return element("p", { class: alignClass(data), dir: "auto" }, 0);
    case "heading_1":
    case "heading_2":
    case "heading_3":
      return element(`h${headingLevel(node)}`, { class: alignClass(data), dir: "auto" }, 0);
    case "list_ordered":
      return element("ol", { start: data.start && data.start !== 1 ? String(data.start) : null }, 0);
    case "list_unordered":
      return element("ul", {}, 0);
    case "list_tasks":
      return element("ul", { class: "tasks" }, 0);
    case "list_item":
      if (typeof data.checked !== "boolean") return element("li", {}, 0);
      return element(
        "li",
        { class: "task" },
        element("input", { type: "checkbox", disabled: "", checked: data.checked ? "" : null }),
        element("div", {}, 0),
      );
    case "divider":
      return element("hr", {});
    case "blockquote":
      return element("blockquote", {}, 0);
    case "table":
      return element("table", {}, element("tbody", {}, 0));
    case "table_head":
    case "table_row":
      return element("tr", {}, 0);
    case "table_heading":
      return element("th", {}, 0);
    case "table_cell":
      return element("td", {}, 0);
    case "hard_break":
      return element("br", {});
    case "emoji":
      return element("span", { class: "emoji" }, emojiText(data.code));
    default:
      return undefined;
  }
}

export function drawMark(mark: Mark): DOMOutputSpec {
  const data = (mark.attrs.data ?? {}) as Data;
  switch (mark.type.name) {
    case "link": {
      const href = urlOf(data.ref);
      return href === undefined
        ? element("span", { class: "broken" }, 0)
        : element("a", { href, title: data.title as string | undefined, rel: "noopener" }, 0);
    }
    case "annotation":
      return element("span", { class: "noted" }, 0);
    case "color": {
      const { text, background } = mark.attrs;
      const back = colorClass("b", background);
      return element(back ? "mark" : "span", { class: classes(colorClass("c", text), back) }, 0);
    }
    default:
      return element(TAGS[mark.type.name] ?? "span", {}, 0);
  }
}
