/** What can be done here: by keys, and by name in the palette. Single letters act outside of text only, and can be
 * turned off (WCAG 2.1.4). Somebody who believes that they are writing presses any of them: none of them changes what
 * other people have or tells them anything, which takes a modifier or a dialog. */
import type { IconName } from "../parts/Icon.svelte";
import { current } from "./current.svelte.ts";

export interface Action {
  /** `e`, `?`, `[`, or with modifiers `mod+k`, `shift+enter`. */
  keys?: string;
  /** What it does, for the list of keys and the palette; without one it is in neither. */
  text?: string;
  icon?: IconName;
  run: () => unknown;
}

const MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const KEPT = "octavo-single-keys";
const stack: Action[][] = [];

export const singleKeys = {
  get on(): boolean {
    return localStorage.getItem(KEPT) !== "off";
  },
  set on(wanted: boolean) {
    localStorage.setItem(KEPT, wanted ? "on" : "off");
  },
};

/** What can be done now, that of the innermost part first. */
export const actions = () => stack.toReversed().flat();

/** Offers actions until what comes back is called; inner ones go before outer ones. */
export function offer(added: Action[]): () => void {
  stack.push(added);
  return () => {
    stack.splice(stack.indexOf(added), 1);
  };
}

const NAMES: Record<string, [string, string]> = {
  mod: ["Ctrl", "⌘"],
  alt: ["Alt", "⌥"],
  shift: ["Shift", "⇧"],
  enter: ["Enter", "↵"],
  escape: ["Esc", "Esc"],
  arrowup: ["↑", "↑"],
  arrowdown: ["↓", "↓"],
  delete: ["Del", "⌫"],
  backspace: ["Backspace", "⌫"],
};

/** Keys as this platform names them: `Ctrl K`, `⌘K`. */
export const keysAsText = (keys: string): string =>
  keys.split("+").map((key) => NAMES[key]?.[MAC ? 1 : 0] ?? key.toUpperCase()).join(MAC ? "" : " ");

/** Whether people type into this element. */
export function isText(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) &&
        !/^(checkbox|radio|button|submit)$/.test((target as HTMLInputElement).type));
}

function pressed(event: KeyboardEvent): string {
  const parts = [];
  if (MAC ? event.metaKey : event.ctrlKey) parts.push("mod");
  if (event.altKey) parts.push("alt");
  const letter = event.key.length === 1;
  if (event.shiftKey && (!letter || parts.length > 0)) parts.push("shift");
  parts.push(event.key.toLowerCase());
  return parts.join("+");
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const keys = pressed(event);
  const single = !/^(mod|alt)\+|^(escape|f\d+)$/.test(keys);
  if (single && (isText(event.target) || !singleKeys.on)) return;
  if (single && (event.ctrlKey || event.metaKey)) return;
  // Somebody may write before the text is there.
  if (single && current.begin) return;
  // Under a dialog nothing else is reached.
  if (single && document.querySelector("dialog[open]") && !(event.target as Element).closest?.("dialog")) {
    return;
  }
  // A dialog closes by itself.
  if (keys === "escape" && document.querySelector("dialog[open]")) return;
  const found = actions().find((one) => one.keys === keys);
  if (!found) return;
  if (keys === "mod+z" && isText(event.target)) return;
  event.preventDefault();
  found.run();
});
