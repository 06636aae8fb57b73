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

export function hintStyle(data: Data): string {
  const styles = ["info", "success", "warning", "danger"];
  return styles.includes(String(data.style)) ? String(data.style) : "info";
}

/** Return the number of twelfths of a column's width as a class; attributes can't contain styles. */
export function columnClass(data: Data): string | undefined {
  const { width, verticalAlignment } = data as {
    width?: { unit?: string; value?: number };
    verticalAlignment?: string;
  };
  const part = width?.unit === "%" && width.value
    ? Math.min(Math.max(Math.round(width.value * 12 / 100), 1), 12)
    : 0;
  return classes("column", part ? `of-${part}` : null, verticalAlignment && `at-${verticalAlignment}`);
}

const SAFE = /^(?:https?:|mailto:|tel:|ftp:|\/\/|[^:]*$|[^:]*[/?#])/i;

/** Return a URL that is allowed in links and images, or undefined. */
export function safeUrl(url: unknown): string | undefined {
  return typeof url === "string" && SAFE.test(url.trim()) ? url : undefined;
}

/** Return whether a URL belongs to a provider with an embedded player. */
export function isPlayed(url: string | undefined): boolean {
  return /^https?:\/\/(www\.|m\.)?(youtube\.com|youtu\.be|vimeo\.com|loom\.com|open\.spotify\.com|figma\.com|codepen\.io)\/\S/i
    .test(url ?? "");
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

export function emojiCode(text: string): string {
  return [...text].map((sign) => sign.codePointAt(0)!.toString(16)).join("-");
}

/** Return the class of a color name, or undefined. */
export function colorClass(prefix: "c" | "b", color: unknown): string | undefined {
  if (typeof color !== "string" || color === "default" || !table.colors.includes(color)) return undefined;
  return `${prefix}-${color.replace("$", "")}`;
}

function element(tag: string, attributes: Attributes, ...inside: unknown[]): DOMOutputSpec {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== null);
  return [tag, Object.fromEntries(given), ...inside] as unknown as DOMOutputSpec;
}

/** Render a block without its view, for copying. */
function named(type: string, words: string): DOMOutputSpec {
  return element("div", { class: "ref", "data-type": type }, words);
}

export function drawBlock(node: Node): DOMOutputSpec {
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
    case "hint":
      return element(
        "div",
        { class: `hint ${hintStyle(data)}`, role: "note" },
        element("span", { class: "icon" }),
        element("div", { class: "hint-body" }, 0),
      );
    case "code_block":
      return element(
        "figure",
        { class: classes("code", data.title ? "titled" : null) },
        element("pre", {}, element("code", { class: data.syntax ? `language-${data.syntax}` : null }, 0)),
      );
    case "code_line":
      return element("span", { class: classes("line", data.highlighted === true && "lit") }, 0);
    case "math":
      return element("pre", { class: "formula" }, element("code", {}, String(data.formula ?? "")));
    case "images":
      return element("div", { class: "images" }, 0);
    case "image":
      return element(
        "figure",
        { class: "image" },
        element("img", { src: urlOf(data.ref), alt: String(data.alt ?? "") }),
        element("div", {}, 0),
      );
    case "caption":
      return element("figcaption", {}, 0);
    case "file":
    case "embed":
      return element(
        "figure",
        { class: node.type.name },
        element(
          "a",
          { href: node.type.name === "embed" ? safeUrl(data.url) : urlOf(data.ref) },
          String(data.url ?? ""),
        ),
        element("div", {}, 0),
      );
    case "expandable":
      return element("details", { class: "expandable", open: "" }, 0);
    case "expandable_title":
      return element("summary", {}, 0);
    case "expandable_body":
      return element("div", { class: "expandable-body" }, 0);
    case "tabs":
      return element("div", { class: "tabs" }, 0);
    case "tabs_item":
      return element("div", { role: "tabpanel", "data-title": String(data.title ?? "") }, 0);
    case "stepper":
      return element("ol", { class: "stepper" }, 0);
    case "stepper_step":
      return element(
        "li",
        { class: "step" },
        element("span", { class: "step-mark", "aria-hidden": "true" }),
        element("div", { class: "step-body" }, 0),
      );
    case "columns":
      return element("div", { class: classes("columns", data.fullWidth === true && "wide") }, 0);
    case "column":
      return element("div", { class: columnClass(data) }, 0);
    case "table":
      return element("table", {}, element("tbody", {}, 0));
    case "table_head":
    case "table_row":
      return element("tr", {}, 0);
    case "table_heading":
      return element("th", {}, 0);
    case "table_cell":
      return element("td", {}, 0);
    case "table_value":
      return element("td", {}, valueText(node.attrs.value));
    case "content_ref":
      return named("content-ref", String(data.label ?? urlOf(data.ref) ?? ""));
    case "opaque":
      return named("opaque", String(node.attrs.json.type ?? ""));
    default:
      return node.type.isLeaf
        ? named(node.type.name, "")
        : element("div", { class: node.type.name.replaceAll("_", "-") }, 0);
  }
}

export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  return typeof value === "object" ? urlOf(value) ?? "" : String(value);
}

export function drawInline(node: Node): DOMOutputSpec {
  const data = (node.attrs.data ?? {}) as Data;
  switch (node.type.name) {
    case "hard_break":
      return element("br", {});
    case "emoji":
      return element("span", { class: "emoji" }, emojiText(data.code));
    case "inline_math":
      return element("code", {}, String(data.formula ?? ""));
    case "expression":
      return element("code", { class: "expression" }, `{{ ${data.expression ?? ""} }}`);
    case "inline_image":
      return element("img", {
        class: data.size === "line" ? "image-line" : "image-original",
        src: urlOf(data.ref),
        alt: String(data.alt ?? ""),
      });
    case "mention":
      return element("span", { class: "mention" }, String(data.label ?? urlOf(data.ref) ?? ""));
    case "button":
      return element(
        "span",
        { class: `button ${data.kind === "secondary" ? "secondary" : "primary"}` },
        String(data.label ?? ""),
      );
    case "icon":
      return element("span", { class: "icon", "data-icon": String(data.icon ?? "") });
    default:
      return element("span", { class: "held" }, "");
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
