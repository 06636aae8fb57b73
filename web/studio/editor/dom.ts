/** Small elements of the editor's own. Node views are plain DOM: a component for each of them costs too much. */

type Child = globalThis.Node | string | null | undefined | false;
type Given = Record<string, string | boolean | number | null | undefined | ((event: never) => void)>;

/**
 * An element. A function is a listener, true an attribute without a value; null, undefined and false leave one out.
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

/** One of the reader's line marks, drawn by its styles. */
export function sign(name: string): HTMLElement {
  return h("span", { class: `i i-${name}`, "aria-hidden": "true" });
}

/**
 * Puts a floating element beside a place in the window: below it, or above where there is no room; from where lines
 * begin, where the place says its right side too.
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
