/**
 * Lists that open while something is typed: blocks after `/`, emoji after `:`, people and pages after `@`. The caret stays
 * in the text; arrows choose, Enter takes, Escape leaves what was typed as it is.
 */
import { Plugin, PluginKey, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { schema } from "../document/schema.ts";
import { h, place, set } from "./dom.ts";

export interface Choice {
  title: string;
  line?: string;
  group?: string;
  /** At the end of its line: what is typed for it. */
  typed?: string;
  /** What stands before it. */
  sign?: HTMLElement;
  /** Puts it in the place of what was typed, from the sign to the caret. */
  take: (view: EditorView, from: number, to: number) => void;
}

export interface Trigger {
  /** The sign and what was typed after it, at the caret; the first group is what was typed. */
  pattern: RegExp;
  /** The name of the list. */
  label: string;
  /** Shown below the list, with what was typed: how it is kept. */
  hint: (typed: string) => HTMLElement | null;
  find: (typed: string) => Choice[];
  /** What takes time, below what is found at once. */
  more?: (typed: string) => Promise<Choice[]>;
  /** How much has to be typed before it opens. */
  least?: number;
  /** How many letters the sign has, where it is more than one. */
  sign?: number;
}

interface Open {
  trigger: Trigger;
  from: number;
  typed: string;
}

interface State {
  open: Open | null;
  /** Where the list was closed with Escape: it stays closed until the sign is gone. */
  left: number | null;
}

/** How much of the text before the caret is looked at. */
const LONGEST = 300;

const NOTHING: Record<string, string> = {};

const key = new PluginKey<State>("completing");

/** Escape, and a click elsewhere: the list goes, what was typed stays. */
export function closeCompletion(view: EditorView): void {
  view.dispatch(view.state.tr.setMeta(key, "close"));
}

export function completing(triggers: Trigger[]): Plugin<State> {
  return new Plugin<State>({
    key,
    state: {
      init: () => ({ open: null, left: null }),
      apply(transaction, before, _, state): State {
        if (transaction.getMeta(key) === "close") return { open: null, left: before.open?.from ?? null };
        if (!transaction.docChanged && !transaction.selectionSet) return before;
        const left = before.left === null ? null : transaction.mapping.map(before.left);
        const { selection } = state;
        if (!(selection instanceof TextSelection) || !selection.empty) return { open: null, left };
        const { $head } = selection;
        if (
          $head.parent.type === schema.nodes.code_line || $head.parent.type === schema.nodes.table_heading
        ) return { open: null, left };
        const text = $head.parent.textBetween(
          Math.max(0, $head.parentOffset - LONGEST),
          $head.parentOffset,
          "\ufffc",
          "\ufffc",
        );
        for (const trigger of triggers) {
          const match = trigger.pattern.exec(text);
          if (match === null || match[1]!.length < (trigger.least ?? 0)) continue;
          const from = $head.pos - match[1]!.length - (trigger.sign ?? 1);
          // It opens by typing, not by walking past; and not again once it was closed.
          if (from === left || (!transaction.docChanged && before.open?.from !== from)) continue;
          return { open: { trigger, from, typed: match[1]! }, left: null };
        }
        return { open: null, left };
      },
    },
    view: (view) => new List(view),
    props: {
      handleKeyDown(view, event) {
        const list = lists.get(view);
        return key.getState(view.state)?.open ? list?.key(event) ?? false : false;
      },
      attributes: (state) => {
        const open = key.getState(state)?.open;
        return open
          ? { "aria-haspopup": "listbox", "aria-controls": "completions", "aria-expanded": "true" }
          : NOTHING;
      },
    },
  });
}

const lists = new WeakMap<EditorView, List>();

class List {
  #dom = h("div", { class: "menu completions", hidden: true });
  #choices: Choice[] = [];
  #active = 0;
  #shown: Open | null = null;
  #asked = 0;

  constructor(private view: EditorView) {
    lists.set(view, this);
    this.#dom.addEventListener("mousedown", (event) => event.preventDefault());
    document.body.append(this.#dom);
  }

  update(): void {
    const open = key.getState(this.view.state)?.open ?? null;
    if (
      open?.from === this.#shown?.from && open?.typed === this.#shown?.typed &&
      open?.trigger === this.#shown?.trigger
    ) return;
    const same = open?.from === this.#shown?.from;
    this.#shown = open;
    if (open === null) {
      this.#hide();
      return;
    }
    if (!same) this.#active = 0;
    const asked = ++this.#asked;
    const found = open.trigger.find(open.typed);
    this.#draw(open, found);
    open.trigger.more?.(open.typed).then((more) => {
      if (asked === this.#asked && this.#shown === open) this.#draw(open, [...found, ...more]);
    }, () => {});
  }

  #hide(): void {
    this.#dom.hidden = true;
    this.#choices = [];
    set(this.view.dom, { "aria-activedescendant": null });
  }

  #draw(open: Open, choices: Choice[]): void {
    this.#choices = choices;
    this.#active = Math.min(this.#active, Math.max(0, choices.length - 1));
    if (!choices.length) {
      this.#dom.hidden = true;
      return;
    }
    const rows: HTMLElement[] = [];
    let group: string | undefined;
    choices.forEach((choice, at) => {
      if (choice.group && choice.group !== group) {
        rows.push(h("div", { class: "menu-group", role: "presentation" }, choice.group));
      }
      group = choice.group;
      rows.push(h(
        "div",
        {
          role: "option",
          id: `completion-${at}`,
          "aria-label": choice.title,
          class: "completion",
          onmousemove: () => this.#mark(at),
          onclick: () => this.#take(at),
        },
        choice.sign ?? null,
        h(
          "span",
          { class: "completion-text" },
          h("span", { class: "completion-title" }, ...marked(choice.title, open.typed)),
          choice.line ? h("small", {}, choice.line) : null,
        ),
        choice.typed ? h("kbd", {}, choice.typed) : null,
      ));
    });
    const list = h("div", { role: "listbox", id: "completions", "aria-label": open.trigger.label }, ...rows);
    this.#dom.replaceChildren(list, ...[open.trigger.hint(open.typed)].filter((each) => each !== null));
    this.#dom.hidden = false;
    this.#mark(this.#active);
    place(this.#dom, this.view.coordsAtPos(open.from));
  }

  #mark(at: number): void {
    this.#active = at;
    this.#dom.querySelectorAll('[role="option"]').forEach((row, number) => {
      set(row, { "aria-selected": String(number === at) });
      if (number === at) row.scrollIntoView({ block: "nearest" });
    });
    set(this.view.dom, { "aria-activedescendant": `completion-${at}` });
  }

  #take(at: number): void {
    const choice = this.#choices[at];
    const open = this.#shown;
    if (choice === undefined || open === null) return;
    // First: what it takes may ask for something, with a focus of its own.
    this.view.focus();
    choice.take(this.view, open.from, this.view.state.selection.head);
  }

  key(event: KeyboardEvent): boolean {
    if (event.key === "Escape") {
      closeCompletion(this.view);
      return true;
    }
    if (!this.#choices.length) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      this.#mark((this.#active + step + this.#choices.length) % this.#choices.length);
      return true;
    }
    if (event.key !== "Enter" && event.key !== "Tab") return false;
    this.#take(this.#active);
    return true;
  }

  destroy(): void {
    this.#dom.remove();
    lists.delete(this.view);
  }
}

/** A title with what was typed in it marked. */
function marked(title: string, typed: string): (HTMLElement | string)[] {
  const at = typed ? title.toLowerCase().indexOf(typed.toLowerCase()) : -1;
  if (at < 0) return [title];
  return [title.slice(0, at), h("b", {}, title.slice(at, at + typed.length)), title.slice(at + typed.length)];
}
