/** The actions of the current screen, read from its bar and its tabs, so that the palette can list all of them. */
import type { Action } from "../state/keys.ts";
import { router } from "../state/router.svelte.ts";

/** The part of a menu item that the palette shows. */
interface Item extends Partial<Action> {
  text: string;
  href?: string;
  off?: string;
}
type Entry = Item | "line" | { heading: string };

const menus = new Map<HTMLElement, () => Entry[]>();

/** Register the items of a button's menu, until the returned function is called. */
export function noteMenu(button: HTMLElement, entries: () => Entry[]): () => void {
  menus.set(button, entries);
  return () => menus.delete(button);
}

const isItem = (one: Entry): one is Item => typeof one === "object" && "text" in one;

function nameOf(element: HTMLElement): string {
  const label = element.getAttribute("aria-label");
  if (label) return label;
  const copy = element.cloneNode(true) as HTMLElement;
  for (const hidden of copy.querySelectorAll("[aria-hidden=true]")) hidden.remove();
  return copy.textContent?.trim() ?? "";
}

/** Return the actions without duplicate names. Items with an icon or a shortcut take precedence over plain buttons. */
export function screenActions(): Action[] {
  const found = new Map<string, Action>();
  const at = ".sheet > .bar .bar-end :is(button, a), .sheet [role=tablist] a";
  for (const element of document.querySelectorAll<HTMLElement>(at)) {
    const entries = menus.get(element);
    if (entries) {
      for (const { text, icon, keys, off, href, run } of entries().filter(isItem)) {
        if (off) continue;
        found.set(text, {
          text,
          ...(icon ? { icon } : {}),
          ...(keys && run ? { keys } : {}),
          run: run ?? (() => href && router.go(href)),
        });
      }
    }
    const text = nameOf(element);
    const isOff = element.getAttribute("aria-disabled") === "true" || !element.checkVisibility();
    if (
      !text || entries && !found.has(text) && element.getAttribute("aria-haspopup") && entries().length ||
      isOff
    ) {
      continue;
    }
    if (!found.has(text)) found.set(text, { text, run: () => element.click() });
  }
  return [...found.values()];
}
