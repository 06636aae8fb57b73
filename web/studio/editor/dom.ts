/** Creates small elements of the editor. Node views use plain DOM, because a component for each would be too slow. */
import type { DOMOutputSpec } from "prosemirror-model";

type Child = globalThis.Node | string | null | undefined | false;
type Given = Record<string, string | boolean | number | null | undefined | ((event: never) => void)>;

/**
 * Create an element. A function is a listener, and true is an attribute without a value. Null, undefined, and false
 * are omitted.
 *
 *     h("button", { type: "button", onclick: go }, "Go")
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Given = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  set(made, attributes);
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function set(element: Element, attributes: Given): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

type Spec = [tag: keyof HTMLElementTagNameMap, attributes: Given, ...inside: (Spec | string | 0)[]];

/** Create the element for a node, and find the element for its content, which the specification marks with 0. */
export function renderSpec(spec: DOMOutputSpec): { dom: HTMLElement; contentDOM?: HTMLElement } {
  const [tag, attributes, ...inside] = spec as unknown as Spec;
  const dom = h(tag, attributes);
  let contentDOM: HTMLElement | undefined;
  for (const one of inside) {
    if (one === 0) contentDOM = dom;
    else if (typeof one === "string") dom.append(one);
    else {
      const made = renderSpec(one as unknown as DOMOutputSpec);
      dom.append(made.dom);
      contentDOM ??= made.contentDOM;
    }
  }
  return { dom, ...(contentDOM ? { contentDOM } : {}) };
}

/** Create one of the reader's line icons. */
export function sign(name: string): HTMLElement {
  return h("span", { class: `i i-${name}`, "aria-hidden": "true" });
}

/**
 * Place a floating element next to a position in the window: below it, or above if there is no room, aligned with
 * the start of the line if the position has a right side.
 */
export function place(
  floating: HTMLElement,
  at: { left: number; right?: number; top: number; bottom: number },
  above = false,
): void {
  const { width, height } = floating.getBoundingClientRect();
  const margin = 8;
  const fits = above ? at.top - height - margin >= 0 : at.bottom + height + margin <= innerHeight;
  const up = above === fits;
  const top = up ? at.top - height - margin : at.bottom + margin;
  const fromRight = at.right !== undefined && getComputedStyle(floating).direction === "rtl";
  const left = fromRight ? at.right! - width : at.left;
  floating.style.setProperty("left", `${Math.max(margin, Math.min(left, innerWidth - width - margin))}px`);
  floating.style.setProperty("top", `${Math.max(margin, Math.min(top, innerHeight - height - margin))}px`);
}
