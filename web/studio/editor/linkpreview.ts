/** Shows where a link leads while the pointer is over it: its title, a preview, and whether it is broken. */
import type { EditorView } from "prosemirror-view";
import { schema } from "../document/schema.ts";
import type { Data, Ref } from "../document/types.ts";
import { h, place } from "./dom.ts";
import type { Lookup } from "./lookup.ts";
import { isLost } from "./referenced.ts";
import { words } from "./words.ts";

const DELAY = 300;
const LINKS = "a, span.broken";

interface Shown {
  title: string;
  line: string;
  broken: boolean;
}

async function look(lookup: Lookup, ref: Ref): Promise<Shown> {
  const url = ref.kind === "url" ? String(ref.url ?? "") : "";
  if (isLost(ref)) return { title: words.brokenLink, line: url, broken: true };
  if (/^https?:/i.test(url)) {
    const found = await lookup.preview(url).catch(() => undefined);
    return { title: found?.title ?? url, line: found ? `${found.site} · ${url}` : "", broken: false };
  }
  const { title = "", description = "", broken = false } = await lookup.target(ref);
  if (broken) return { title: words.brokenLink, line: url, broken };
  const anchor = typeof ref.anchor === "string" && ref.anchor ? `#${ref.anchor}` : "";
  return {
    title: title || anchor || url,
    line: title ? [anchor, description].filter(Boolean).join(" · ") : "",
    broken,
  };
}

/** Return the target of the link that contains an element of the text. */
function refAt(view: EditorView, element: Element): Ref | undefined {
  const $at = view.state.doc.resolve(view.posAtDOM(element, 0));
  const mark = $at.nodeAfter && schema.marks.link!.isInSet($at.nodeAfter.marks);
  return mark ? (mark.attrs.data as Data).ref as Ref : undefined;
}

/** Show where links lead, beginning with the one under the pointer of `first`. Returns a function that ends this. */
export function previewLinks(view: EditorView, lookup: Lookup, first: MouseEvent): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  let box: HTMLElement | undefined;
  let over: Element | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    clearTimeout(timer);
    box?.remove();
    box = over = undefined;
  };
  const show = async (element: Element): Promise<void> => {
    const ref = element.isConnected ? refAt(view, element) : undefined;
    if (!ref) return;
    const { title, line, broken } = await look(lookup, ref);
    if (over !== element || !element.isConnected || !title) return;
    box = h(
      "div",
      { class: broken ? "menu link-preview is-broken" : "menu link-preview", role: "tooltip" },
      h("strong", {}, title),
      line ? h("small", {}, line) : null,
    );
    document.body.append(box);
    place(box, element.getBoundingClientRect());
  };
  const enter = (event: MouseEvent): void => {
    const element = (event.target as Element).closest?.(LINKS) ?? undefined;
    if (element === over) return;
    close();
    if (!element || !view.dom.contains(element) || event.buttons) return;
    over = element;
    timer = setTimeout(() => void show(element).catch(() => {}), DELAY);
  };
  view.dom.addEventListener("mouseover", enter, { signal });
  for (const event of ["mouseleave", "mousedown", "keydown"]) {
    view.dom.addEventListener(event, close, { signal });
  }
  document.addEventListener("scroll", close, { signal, capture: true });
  signal.addEventListener("abort", close);
  enter(first);
  return () => stop.abort();
}
