/** The toolbar above selected text. It appears 120 ms after the selection, but never while the pointer is down. */
import { toggleMark } from "prosemirror-commands";
import { type Command, type EditorState, Plugin, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { schema } from "../document/schema.ts";
import { table } from "../document/table.ts";
import type { About } from "./base.ts";
import { type Turn, turnInto, turnOf } from "./blocks.ts";
import { h, place, set } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { openLink } from "./linking.ts";
import { openMenu } from "./menu.ts";
import { chosen } from "./threadmarks.ts";
import { words } from "./words.ts";

const DELAY = 120;
const { nodes, marks } = schema;

interface Button {
  title: string;
  keys: string;
  icon: string;
  mark: string;
}

const BUTTONS: Button[] = [
  { title: words.marks.bold!, keys: "Mod-B", icon: "bold", mark: "bold" },
  { title: words.marks.italic!, keys: "Mod-I", icon: "italic", mark: "italic" },
  { title: words.marks.strikethrough!, keys: "Mod-Shift-X", icon: "strikethrough", mark: "strikethrough" },
  { title: words.marks.code!, keys: "Mod-E", icon: "code", mark: "code" },
];

/** Return the name of a key on this platform. */
export function keyName(keys: string): string {
  const apple = /Mac|iP(hone|ad)/.test(navigator.platform);
  return apple
    ? keys.replace("Mod-", "⌘").replace("Shift-", "⇧").replace("Alt-", "⌥").replaceAll("-", "")
    : keys.replace("Mod-", "Ctrl ").replace("Shift-", "Shift ").replace("Alt-", "Alt ");
}

export interface ToolbarOptions {
  /** Called to comment on the selection. If undefined, there is no button. */
  comment?: (about: About) => void;
  /** Open the note on the selected text. */
  note?: (view: EditorView) => void;
  /** Create reusable content from the selected block. */
  reuse?: (view: EditorView) => void;
}

export function toolbar(options: ToolbarOptions): Plugin {
  return new Plugin({ view: (view) => new Toolbar(view, options) });
}

/** Open the color menu of the selection. */
export function openColors(view: EditorView, button: HTMLElement): void {
  const color = (fields: { text?: string; background?: string }): void => {
    const { tr, selection, doc } = view.state;
    for (const { $from, $to } of selection.ranges) {
      const [from, to] = [$from.pos, $to.pos];
      let before: Record<string, unknown> = { text: "default", background: "default" };
      doc.nodesBetween(from, to, (node) => {
        before = marks.color!.isInSet(node.marks)?.attrs ?? before;
      });
      const attrs: Record<string, unknown> = { ...before, ...fields, at: null };
      tr.removeMark(from, to, marks.color!);
      if (attrs.text !== "default" || attrs.background !== "default") {
        tr.addMark(from, to, marks.color!.create(attrs));
      }
    }
    view.dispatch(tr);
    view.focus();
  };
  const names = table.colors.filter((each) => !each.startsWith("$"));
  openMenu(view, button, words.color, [
    ...names.map((name) => ({
      label: words.colors[name] ?? name,
      group: words.textColor,
      run: () => color({ text: name }),
    })),
    ...names.map((name) => ({
      label: words.colors[name] ?? name,
      group: words.background,
      run: () => color({ background: name }),
    })),
  ]);
}

function chosenWords(state: EditorState): boolean {
  const { selection } = state;
  if (!(selection instanceof TextSelection) || selection.empty) return false;
  if (
    selection.$head.parent.type === nodes.code_line || selection.$head.parent.type === nodes.table_heading
  ) return false;
  return state.doc.textBetween(selection.from, selection.to, " ").trim() !== "";
}

class Toolbar {
  #dom = h("div", { class: "menu toolbar", role: "toolbar", "aria-label": words.toolbar, hidden: true });
  #turn = h("button", {
    type: "button",
    class: "turn",
    "aria-haspopup": "menu",
    onclick: () => this.#openTurns(),
  });
  #buttons = new Map<string, HTMLElement>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #down = false;
  #stop = new AbortController();
  #options: ToolbarOptions;

  constructor(private view: EditorView, options: ToolbarOptions) {
    this.#options = options;
    this.#dom.append(this.#turn, h("span", { class: "bar" }));
    for (const { title, keys, icon, mark } of BUTTONS) {
      this.#add(
        mark,
        title,
        keys,
        icon,
        () => this.#run(toggleMark(marks[mark]!, null, { includeWhitespace: true })),
      );
    }
    this.#add("link", words.link, "Mod-K", "link", () => openLink(this.view));
    this.#add("color", words.color, "", "palette", (button) => openColors(this.view, button));
    if (options.comment) {
      this.#dom.append(h("span", { class: "bar" }));
      const button = this.#add(
        "comment",
        words.comment,
        "Mod-Alt-M",
        "regular/comment",
        () => this.#comment(options.comment!),
      );
      button.append(h("span", { class: "button-word" }, words.comment));
    }
    this.#dom.append(h("span", { class: "bar" }));
    this.#add("more", words.more, "", "ellipsis", (button) => this.#openMore(button));
    this.#dom.addEventListener("mousedown", (event) => event.preventDefault());
    this.#dom.addEventListener("keydown", (event) => this.#key(event));
    document.body.append(this.#dom);
    const { signal } = this.#stop;
    document.addEventListener("pointerdown", (event) => {
      this.#down = !this.#dom.contains(event.target as globalThis.Node);
      if (this.#down) this.#hide();
    }, { signal, capture: true });
    document.addEventListener("pointerup", () => {
      this.#down = false;
      this.update();
    }, { signal, capture: true });
    // The link box needs the space.
    view.dom.addEventListener("focusout", (event) => {
      if ((event.relatedTarget as Element | null)?.closest(".link-box, .note-box")) this.#hide();
    }, { signal });
    document.addEventListener("scroll", () => !this.#dom.hidden && this.#place(), {
      signal,
      capture: true,
      passive: true,
    });
  }

  #add(
    name: string,
    title: string,
    keys: string,
    icon: string,
    run: (button: HTMLElement) => void,
  ): HTMLElement {
    const button = h("button", {
      type: "button",
      title: keys ? `${title} (${keyName(keys)})` : title,
      "aria-label": title,
      tabindex: "-1",
      onclick: () => run(button),
    }, drawIcon(icon));
    this.#buttons.set(name, button);
    this.#dom.append(button);
    return button;
  }

  #run(command: Command): void {
    command(this.view.state, this.view.dispatch, this.view);
    this.view.focus();
  }

  update(_view?: EditorView, before?: EditorState): void {
    if (
      this.#down || !this.view.editable || !chosenWords(this.view.state) ||
      !this.view.hasFocus() && !this.#dom.contains(document.activeElement)
    ) {
      this.#hide();
      return;
    }
    if (!this.#dom.hidden) return this.#show();
    // Text that others type doesn't delay it.
    if (this.#timer !== undefined && before && this.view.state.doc !== before.doc) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#show(), DELAY);
  }

  #hide(): void {
    this.#forget();
    this.#dom.hidden = true;
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #show(): void {
    this.#forget();
    const { state } = this.view;
    if (!chosenWords(state)) return this.#hide();
    this.#turn.replaceChildren(
      words.turns[turnOf(state)] ?? "",
      drawIcon("chevron-down"),
    );
    const { from, to } = state.selection;
    for (const [name, button] of this.#buttons) {
      const type = marks[name];
      if (type !== undefined) set(button, { "aria-pressed": String(state.doc.rangeHasMark(from, to, type)) });
    }
    this.#dom.hidden = false;
    this.#place();
  }

  #place(): void {
    const { from, to } = this.view.state.selection;
    const start = this.view.coordsAtPos(from);
    const end = this.view.coordsAtPos(to, -1);
    const { width } = this.#dom.getBoundingClientRect();
    const middle = start.top === end.top ? (start.left + end.left) / 2 : start.left + width / 2;
    place(this.#dom, { left: middle - width / 2, top: start.top, bottom: end.bottom }, true);
  }

  #openTurns(): void {
    const now = turnOf(this.view.state);
    openMenu(
      this.view,
      this.#turn,
      words.turnInto,
      Object.entries(words.turns).map(([turn, label]) => ({
        label,
        chosen: turn === now,
        run: () => this.#run(turnInto(turn as Turn)),
      })),
    );
  }

  #openMore(button: HTMLElement): void {
    const toggle = (name: string) => ({
      label: words.marks[name]!,
      chosen: this.view.state.doc.rangeHasMark(
        this.view.state.selection.from,
        this.view.state.selection.to,
        marks[name]!,
      ),
      run: () => this.#run(toggleMark(marks[name]!)),
    });
    openMenu(this.view, button, words.more, [
      ...(this.#options.note ? [{ label: words.note, run: () => this.#options.note!(this.view) }] : []),
      toggle("keyboard"),
      toggle("superscript"),
      toggle("subscript"),
      {
        label: words.clear,
        run: () => {
          const { state } = this.view;
          const transaction = state.tr;
          for (const type of Object.values(marks)) {
            if (type !== marks.link && type !== marks.annotation) {
              transaction.removeMark(state.selection.from, state.selection.to, type);
            }
          }
          this.view.dispatch(transaction);
          this.view.focus();
        },
      },
    ]);
  }

  #comment(comment: (about: About) => void): void {
    const about = chosen(this.view.state);
    if (about) comment(about);
  }

  /** Handle keys. The bar is one Tab stop, and arrow keys move along it. */
  #key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") {
      event.preventDefault();
      this.view.focus();
    } else if (step !== undefined) {
      const all = [...this.#dom.querySelectorAll<HTMLElement>("button")];
      const at = all.indexOf(document.activeElement as HTMLElement);
      all[(at + step + all.length) % all.length]?.focus();
      event.preventDefault();
    }
  }

  destroy(): void {
    this.#stop.abort();
    this.#forget();
    this.#dom.remove();
  }
}
