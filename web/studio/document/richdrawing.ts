/** Renders the nodes that many pages don't have, like `drawing.ts`. */
import type { DOMOutputSpec, Node } from "prosemirror-model";
import { classes, drawPlain, element, safeUrl, urlOf } from "./drawing.ts";
import type { Data } from "./types.ts";

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

/** Return whether a URL belongs to a provider with an embedded player. */
export function isPlayed(url: string | undefined): boolean {
  return /^https?:\/\/(www\.|m\.)?(youtube\.com|youtu\.be|vimeo\.com|loom\.com|open\.spotify\.com|figma\.com|codepen\.io)\/\S/i
    .test(url ?? "");
}

export function emojiCode(text: string): string {
  return [...text].map((sign) => sign.codePointAt(0)!.toString(16)).join("-");
}

/** Render a block without its view, for copying. */
function named(type: string, words: string): DOMOutputSpec {
  return element("div", { class: "ref", "data-type": type }, words);
}

export function drawBlock(node: Node): DOMOutputSpec {
  const plain = drawPlain(node);
  if (plain) return plain;
  const data = (node.attrs.data ?? {}) as Data;
  switch (node.type.name) {
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
  const plain = drawPlain(node);
  if (plain) return plain;
  const data = (node.attrs.data ?? {}) as Data;
  switch (node.type.name) {
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
