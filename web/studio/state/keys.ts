/** Actions of the current screen, by keyboard shortcut and by name in the palette. Single-letter shortcuts work only
 * outside of text, and can be turned off (WCAG 2.1.4). People press them by accident when they believe they are
 * typing. Therefore, no single letter changes or sends anything that others see; this requires a modifier or a
 * dialog. */
import type { IconName } from "../parts/Icon.svelte";
import { current } from "./current.svelte.ts";

export interface Action {
  /** `e`, `?`, `[`, or with modifiers `mod+k`, `shift+enter`. */
  keys?: string;
  /** The label for the list of shortcuts and the palette. An action without a label is in neither. */
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

/** Return the current actions, starting with the innermost part. */
export const actions = () => stack.toReversed().flat();

/** Add actions until the returned function is called. Inner ones take precedence over outer ones. */
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

/** Return a shortcut in the notation of this platform: `Ctrl K`, `⌘K`. */
export const keysAsText = (keys: string): string =>
  keys.split("+").map((key) => NAMES[key]?.[MAC ? 1 : 0] ?? key.toUpperCase()).join(MAC ? "" : " ");

/** Return whether this element accepts typed text. */
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
  // A character such as `?` may need Shift; with a letter, it is another shortcut.
  if (event.shiftKey && (!letter || parts.length > 0 || /[a-z]/i.test(event.key))) parts.push("shift");
  parts.push(event.key.toLowerCase());
  return parts.join("+");
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const keys = pressed(event);
  const single = !/^(mod|alt)\+|^(escape|f\d+)$/.test(keys);
  if (single && (isText(event.target) || !singleKeys.on)) return;
  if (single && (event.ctrlKey || event.metaKey)) return;
  // The person may type before the text is loaded.
  if (single && current.begin) return;
  // While a dialog is open, the actions behind it are not available.
  if (single && document.querySelector("dialog[open]") && !(event.target as Element).closest?.("dialog")) {
    return;
  }
  // Dialogs handle Escape themselves.
  if (keys === "escape" && document.querySelector("dialog[open]")) return;
  const found = actions().find((one) => one.keys === keys);
  if (!found) return;
  if (keys === "mod+z" && isText(event.target)) return;
  event.preventDefault();
  found.run();
});
