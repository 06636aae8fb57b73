/** Finds and replaces text in the page: a small bar, highlighted matches, and one step for replacing all. */
import type { Node } from "prosemirror-model";
import { type EditorState, Plugin, PluginKey, TextSelection } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { h } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { reveal } from "./richviews.ts";
import { words } from "./words.ts";

export interface Match {
  from: number;
  to: number;
}

interface State {
  query: string;
  exact: boolean;
  matches: Match[];
  active: number;
}

const key = new PluginKey<State>("finding");
const MOST = 5000;

/** Return the matches in page order. Case is ignored unless `exact`. */
export function findText(doc: Node, query: string, exact = false): Match[] {
  const found: Match[] = [];
  if (!query) return found;
  const wanted = exact ? query : query.toLowerCase();
  doc.descendants((node, position) => {
    if (!node.isTextblock) return found.length < MOST;
    // Each position counts as one letter, so that matches map to positions in the page.
    const text = node.textBetween(0, node.content.size, "\ufffc", "\ufffc");
    const lower = text.toLowerCase();
    const searched = exact || lower.length !== text.length ? text : lower;
    for (
      let at = searched.indexOf(wanted);
      at >= 0 && found.length < MOST;
      at = searched.indexOf(wanted, at + wanted.length)
    ) {
      found.push({ from: position + 1 + at, to: position + 1 + at + wanted.length });
    }
    return false;
  });
  return found;
}

function search(state: EditorState, query: string, exact: boolean, near: number): State {
  const matches = findText(state.doc, query, exact);
  const next = matches.findIndex((match) => match.from >= near);
  return { query, exact, matches, active: matches.length ? Math.max(0, next) : -1 };
}

export function finding(): Plugin<State> {
  return new Plugin<State>({
    key,
    state: {
      init: () => ({ query: "", exact: false, matches: [], active: -1 }),
      apply(transaction, before, _, state): State {
        const given = transaction.getMeta(key) as Partial<State> | undefined;
        if (given?.query !== undefined) {
          return search(state, given.query, given.exact ?? before.exact, state.selection.from);
        }
        if (given?.active !== undefined) return { ...before, active: given.active };
        if (!transaction.docChanged || !before.query) return before;
        const place = before.matches[before.active]?.from ?? 0;
        return search(state, before.query, before.exact, transaction.mapping.map(place));
      },
    },
    props: {
      decorations(state) {
        const { matches, active } = key.getState(state)!;
        if (!matches.length) return null;
        return DecorationSet.create(
          state.doc,
          matches.map(({ from, to }, at) =>
            Decoration.inline(from, to, { class: at === active ? "found active" : "found" })
          ),
        );
      },
    },
    view: (view) => ({ destroy: () => bars.get(view)?.remove() }),
  });
}

const bars = new WeakMap<EditorView, HTMLElement>();

/** Open the bar, prefilled with the selected text. */
export function openFind(view: EditorView): void {
  bars.get(view)?.remove();
  const { from, to } = view.state.selection;
  const chosen = view.state.doc.textBetween(from, to, " ").slice(0, 200);
  const query = h("input", {
    type: "search",
    placeholder: words.find,
    "aria-label": words.find,
    spellcheck: "false",
  });
  const other = h("input", {
    type: "text",
    placeholder: words.replaceWith,
    "aria-label": words.replaceWith,
    spellcheck: "false",
  });
  const exact = h("button", {
    type: "button",
    title: words.matchCase,
    "aria-label": words.matchCase,
    "aria-pressed": "false",
    onclick: () => {
      exact.setAttribute("aria-pressed", String(exact.getAttribute("aria-pressed") !== "true"));
      ask();
    },
  }, "Aa");
  const count = h("span", { class: "find-count", role: "status" });
  const close = (): void => {
    bar.remove();
    bars.delete(view);
    view.dispatch(view.state.tr.setMeta(key, { query: "" }));
    view.focus();
  };
  const showCount = (): void => {
    const { matches, active, query: asked } = key.getState(view.state)!;
    count.textContent = asked ? `${active + 1} / ${matches.length}` : "";
  };
  const show = (): void => {
    const { matches, active } = key.getState(view.state)!;
    const match = matches[active];
    showCount();
    if (!match) return;
    reveal(view, match.from);
    const { node } = view.domAtPos(match.from);
    (node instanceof Element ? node : node.parentElement)?.scrollIntoView({ block: "center" });
  };
  const ask = (): void => {
    view.dispatch(
      view.state.tr.setMeta(key, {
        query: query.value,
        exact: exact.getAttribute("aria-pressed") === "true",
      }),
    );
    show();
  };
  const step = (by: number): void => {
    const { matches, active } = key.getState(view.state)!;
    if (!matches.length) return;
    view.dispatch(view.state.tr.setMeta(key, { active: (active + by + matches.length) % matches.length }));
    show();
  };
  const replace = (all: boolean): void => {
    const { matches, active } = key.getState(view.state)!;
    const wanted = all ? matches : matches.slice(active, active + 1);
    if (!wanted.length) return;
    const transaction = view.state.tr;
    for (const { from, to } of wanted.toReversed()) {
      if (other.value) transaction.insertText(other.value, from, to);
      else transaction.delete(from, to);
    }
    transaction.setSelection(
      TextSelection.near(
        transaction.doc.resolve(Math.min(wanted[0]!.from + other.value.length, transaction.doc.content.size)),
      ),
    );
    view.dispatch(transaction);
    show();
  };
  const button = (title: string, icon: string, run: () => void): HTMLElement =>
    h("button", { type: "button", title, "aria-label": title, onclick: run }, drawIcon(icon));
  const bar = h(
    "div",
    { class: "menu find-bar", role: "search", "aria-label": words.findAndReplace },
    h(
      "div",
      { class: "find-row" },
      query,
      count,
      exact,
      button(words.before, "chevron-up", () => step(-1)),
      button(words.next, "chevron-down", () => step(1)),
      button(words.close, "xmark", close),
    ),
    h(
      "div",
      { class: "find-row" },
      other,
      h("button", { type: "button", onclick: () => replace(false) }, words.replace),
      h("button", { type: "button", onclick: () => replace(true) }, words.replaceAll),
    ),
  );
  query.addEventListener("input", ask);
  bar.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && event.target === query) step(event.shiftKey ? -1 : 1);
    else if (event.key === "Enter" && event.target === other) replace(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  bars.set(view, bar);
  document.body.append(bar);
  query.value = chosen;
  query.focus();
  query.select();
  ask();
}
