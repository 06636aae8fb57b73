/**
 * Lists that open while typing: blocks after `/`, emoji after `:`, people and pages after `@`. The caret stays in the
 * text. Arrow keys select, Enter inserts, and Escape keeps the typed text.
 */
import { Plugin, PluginKey, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { schema } from "../document/schema.ts";
import { h, place, set } from "./dom.ts";

export interface Choice {
  title: string;
  line?: string;
  group?: string;
  /** The text that creates the choice when typed, shown at the end of the row. */
  typed?: string;
  /** The icon before the choice. */
  sign?: HTMLElement;
  /** Whether the choice is selected first. */
  first?: boolean;
  /** Whether the choice is disabled. */
  off?: boolean;
  /** Insert the choice in place of the typed text, from the trigger to the caret. */
  take: (view: EditorView, from: number, to: number) => void;
}

export interface Trigger {
  /** The trigger and the text after it, at the caret. The first group is the text. */
  pattern: RegExp;
  /** The accessible name of the list. */
  label: string;
  /** A note below the list for the typed text. */
  hint: (typed: string) => HTMLElement | null;
  find: (typed: string) => Choice[];
  /** Slower results, shown below the immediate ones. */
  more?: (typed: string) => Promise<Choice[]>;
  /** The number of letters that must be typed before the list opens. */
  least?: number;
  /** The number of letters in the trigger, if there is more than one. */
  sign?: number;
  /** Return whether the text opens the list if it was typed rather than pasted; by default, it does. */
  opensTyped?: (typed: string) => boolean;
  /** Whether number keys select choices by their `typed`. Slower results then replace the immediate ones. */
  numbered?: boolean;
}

interface Open {
  trigger: Trigger;
  from: number;
  typed: string;
  pasted: boolean;
}

interface State {
  open: Open | null;
  /** The position where Escape closed the list. It stays closed until the trigger is removed. */
  left: number | null;
}

/** The number of letters before the caret that are searched for a trigger. */
const LONGEST = 300;

const NOTHING: Record<string, string> = {};

const key = new PluginKey<State>("completing");

/** Close the list and keep the typed text, after Escape or a click elsewhere. */
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
          // It opens when typing, not when the caret moves past, and not again after it was closed.
          if (from === left || (!transaction.docChanged && before.open?.from !== from)) continue;
          const typed = match[1]!;
          const pasted = transaction.getMeta("paste") === true ||
            transaction.getMeta("uiEvent") === "paste" ||
            (before.open?.from === from && before.open.typed === typed && before.open.pasted);
          if (!pasted && trigger.opensTyped?.(typed) === false) continue;
          return { open: { trigger, from, typed, pasted }, left: null };
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
    const asked = ++this.#asked;
    const found = open.trigger.find(open.typed);
    if (!same) this.#active = Math.max(0, found.findIndex((each) => each.first));
    this.#draw(open, found);
    open.trigger.more?.(open.typed).then((more) => {
      if (asked !== this.#asked || this.#shown !== open) return;
      this.#draw(open, open.trigger.numbered ? more : [...found, ...more]);
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
          "aria-disabled": choice.off ? "true" : null,
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
    if (choice === undefined || choice.off || open === null) return;
    // Close first: the inserted item can open a dialog that takes the focus.
    this.view.focus();
    choice.take(this.view, open.from, this.view.state.selection.head);
  }

  key(event: KeyboardEvent): boolean {
    if (event.key === "Escape") {
      closeCompletion(this.view);
      return true;
    }
    if (!this.#choices.length) return false;
    if (this.#shown?.trigger.numbered && /^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey) {
      const at = this.#choices.findIndex(({ typed }) => typed === event.key);
      if (at < 0) return false;
      this.#take(at);
      return true;
    }
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

/** Return a title with the typed text highlighted. */
export function marked(title: string, typed: string): (HTMLElement | string)[] {
  const at = typed ? title.toLowerCase().indexOf(typed.toLowerCase()) : -1;
  if (at < 0) return [title];
  return [title.slice(0, at), h("b", {}, title.slice(at, at + typed.length)), title.slice(at + typed.length)];
}
