/** A menu next to an element. Arrow keys select, typing filters, Enter confirms, and Escape or a click elsewhere
 * closes it. */
import type { EditorView } from "prosemirror-view";
import { h, place, set } from "./dom.ts";
import { drawIcon } from "./icons.ts";

export interface MenuItem {
  label: string;
  /** The group heading, shown above the first item of the group. */
  group?: string;
  keys?: string;
  /** The current value, for an item that opens another menu. */
  value?: string;
  /** Whether a line separates the item from the one above. */
  line?: boolean;
  icon?: string;
  danger?: boolean;
  off?: boolean;
  chosen?: boolean;
  run: () => void;
}

let close: (() => void) | undefined;

export function closeMenu(): void {
  close?.();
}

export function openMenu(
  view: EditorView,
  beside: HTMLElement | DOMRect,
  title: string,
  items: MenuItem[],
): void {
  closeMenu();
  let typed = "";
  let shown: MenuItem[] = [];
  let active = 0;
  const menu = h("div", { class: "menu editor-menu", role: "menu", "aria-label": title, tabindex: "-1" });

  const draw = (): void => {
    shown = items.filter((item) => item.label.toLowerCase().includes(typed));
    active = Math.max(0, Math.min(active, shown.length - 1));
    let group: string | undefined;
    const rows: HTMLElement[] = [];
    shown.forEach((item, at) => {
      if (item.group !== undefined && item.group !== group) {
        rows.push(h("div", { class: "menu-group", role: "presentation" }, item.group));
      }
      group = item.group;
      if (item.line && at) rows.push(h("hr", { role: "presentation" }));
      rows.push(h(
        "button",
        {
          type: "button",
          role: item.chosen === undefined ? "menuitem" : "menuitemradio",
          class: item.danger ? "danger" : null,
          "aria-checked": item.chosen === undefined ? null : String(item.chosen),
          "aria-disabled": item.off ? "true" : null,
          "aria-haspopup": item.value === undefined ? null : "menu",
          tabindex: "-1",
          onmousemove: () => {
            if (active !== at) {
              active = at;
              mark();
            }
          },
          onclick: () => choose(item),
        },
        item.icon ? drawIcon(item.icon) : null,
        h("span", { class: "menu-label" }, item.label),
        item.keys ? h("kbd", {}, item.keys) : null,
        item.value === undefined ? null : h("span", { class: "menu-value" }, item.value),
        item.value === undefined ? null : drawIcon("angle-right"),
        item.chosen ? h("span", { class: "menu-chosen" }, drawIcon("check")) : null,
      ));
    });
    menu.replaceChildren(...rows);
    mark();
  };
  const mark = (): void => {
    [...menu.querySelectorAll<HTMLElement>("button")].forEach((row, at) => {
      set(row, { "data-active": at === active });
      if (at === active) row.focus({ preventScroll: false });
    });
  };
  const choose = (item: MenuItem): void => {
    if (item.off) return;
    closeMenu();
    item.run();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      active = (active + (event.key === "ArrowDown" ? 1 : -1) + shown.length) % Math.max(1, shown.length);
      mark();
    } else if (event.key === "Enter" || event.key === " " && !typed) {
      const item = shown[active];
      if (item) choose(item);
    } else if (event.key === "Escape" || event.key === "Tab") {
      closeMenu();
      view.focus();
    } else if (event.key === "Backspace") {
      typed = typed.slice(0, -1);
      draw();
    } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) {
      typed += event.key.toLowerCase();
      active = 0;
      draw();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const outside = (event: Event): void => {
    if (!menu.contains(event.target as globalThis.Node)) closeMenu();
  };
  menu.addEventListener("keydown", key);
  document.addEventListener("mousedown", outside, true);
  document.body.append(menu);
  close = () => {
    document.removeEventListener("mousedown", outside, true);
    menu.remove();
    close = undefined;
  };
  draw();
  place(menu, beside instanceof HTMLElement ? beside.getBoundingClientRect() : beside);
}
