/** Finds the targets of anchors on a page: headings, expandables, and updates. */
import type { Node } from "prosemirror-model";
import { anchorOf } from "./outline.ts";

interface ShownPage {
  dom: HTMLElement;
  state: { doc: Node };
  nodeDOM(position: number): globalThis.Node | null | undefined;
}

/** Return an anchor in the form in which those of other tools are the same, as the server does. */
const loose = (anchor: string): string =>
  anchor.normalize("NFKD").replace(/[^\p{L}\p{N}]/gu, "").toLowerCase().replace(/^id(?=\d)/, "") || anchor;

const titled = ({ type }: Node): boolean => /^heading_\d$|^expandable$/.test(type.name);

/** Return the position of the block that an anchor names. */
function positionOf(doc: Node, anchor: string): number | undefined {
  const found: { position: number; anchor: string }[] = [];
  doc.descendants((node, position) => {
    const { id } = (node.attrs.meta ?? {}) as { id?: string };
    if (id !== undefined) found.push({ position, anchor: id });
    // A title that isn't saved yet.
    if (titled(node)) found.push({ position, anchor: anchorOf((node.firstChild ?? node).textContent) });
    return !node.isTextblock;
  });
  const wanted = loose(anchor);
  return (found.find((one) => one.anchor === anchor) ?? found.find((one) => loose(one.anchor) === wanted))
    ?.position;
}

/** Return the element that an anchor names, and its position; reusable content has no positions on the page. */
function findAnchor(
  view: ShownPage,
  anchor: string,
): { element: HTMLElement; position?: number } | undefined {
  const position = positionOf(view.state.doc, anchor);
  const element = position === undefined ? undefined : view.nodeDOM(position);
  if (position !== undefined && element instanceof HTMLElement) return { element, position };
  const wanted = loose(anchor);
  const inside = [...view.dom.querySelectorAll<HTMLElement>("h2, h3, h4, summary")]
    .find((one) => loose(anchorOf(one.textContent ?? "")) === wanted);
  return inside && { element: inside };
}

/** Show an element in a closed expandable or in a tab that isn't chosen. */
function uncover(element: HTMLElement): void {
  for (let at: HTMLElement | null = element; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
    if (at.role !== "tabpanel" || !at.hidden) continue;
    const panels = [...at.parentElement!.querySelectorAll(":scope > [role=tabpanel]")];
    const tabs = at.closest(".tabs")?.querySelectorAll<HTMLElement>(":scope > [role=tablist] > [role=tab]");
    tabs?.[panels.indexOf(at)]?.click();
  }
}

function decoded(anchor: string): string {
  try {
    return decodeURIComponent(anchor);
  } catch {
    return anchor;
  }
}

/** Scroll to a position as soon as the content is long enough, unless the person does something else. */
export function scrollOnceLong(scroller: HTMLElement, top: number): void {
  const stop = new AbortController();
  const { signal } = stop;
  const grown = new ResizeObserver(() => {
    scroller.scrollTo(0, top);
    if (scroller.scrollTop >= top - 1) stop.abort();
  });
  for (const child of scroller.children) grown.observe(child);
  signal.addEventListener("abort", () => grown.disconnect());
  for (const type of ["wheel", "keydown", "pointerdown", "popstate"]) {
    addEventListener(type, () => stop.abort(), { signal });
  }
  setTimeout(() => stop.abort(), 3_000);
}

/** Scroll to an anchor of a URL and move the focus to its title. Return its position, or false if the page doesn't have it. */
export function goToAnchor(view: ShownPage, anchor: string): number | boolean {
  const found = findAnchor(view, decoded(anchor));
  if (!found) return false;
  const { element, position } = found;
  uncover(element);
  const title = element.querySelector<HTMLElement>(":scope > summary") ?? element;
  title.scrollIntoView({ block: "start" });
  if (!title.isContentEditable) {
    if (title.tabIndex < 0) title.tabIndex = -1;
    title.focus({ preventScroll: true });
  }
  return position ?? true;
}
