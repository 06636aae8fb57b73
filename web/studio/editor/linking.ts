/** The link box: type or paste a URL, or find a page. */
import { type EditorState, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { safeUrl, urlOf } from "../document/drawing.ts";
import { schema, uid } from "../document/schema.ts";
import type { Data, Ref } from "../document/types.ts";
import { h, place, set } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { words } from "./words.ts";

export interface Found {
  title: string;
  line?: string;
  ref: Ref;
}

/** Find pages by words; the screen provides the search. */
export type FindPages = (words: string) => Promise<Found[]>;

const finders = new WeakMap<EditorView, FindPages>();

export function findWith(view: EditorView, find: FindPages): void {
  finders.set(view, find);
}

export function pagesFor(view: EditorView, typed: string): Promise<Found[]> {
  return finders.get(view)?.(typed) ?? Promise.resolve([]);
}

/** Return the link around the caret or the selection: its range and attributes. */
export function linkAt(
  state: EditorState,
): { from: number; to: number; data: Data; uid: number } | undefined {
  const { $from, empty, from, to } = state.selection;
  const type = schema.marks.link!;
  let mark = type.isInSet($from.marks()) ??
    (($from.nodeAfter && type.isInSet($from.nodeAfter.marks)) || undefined);
  if (mark === undefined && !empty) {
    state.doc.nodesBetween(from, to, (node) => {
      mark ??= type.isInSet(node.marks);
    });
  }
  if (mark === undefined) return undefined;
  const found = mark;
  let start = -1;
  let end = -1;
  const parent = $from.parent;
  const base = $from.start();
  parent.forEach((node, offset) => {
    if (!found.isInSet(node.marks)) return;
    if (start < 0) start = base + offset;
    end = base + offset + node.nodeSize;
  });
  return start < 0
    ? undefined
    : { from: start, to: end, data: found.attrs.data as Data, uid: found.attrs.uid as number };
}

export function setLink(view: EditorView, from: number, to: number, ref: Ref, title?: string): void {
  const { state } = view;
  const before = linkAt(state);
  const mark = schema.marks.link!.create({
    uid: before?.uid ?? uid(),
    data: { ...(before?.data ?? {}), ref },
  });
  const transaction = state.tr;
  let end = to;
  if (from === to) {
    const text = title ?? urlOf(ref) ?? "";
    transaction.insertText(text, from);
    end = from + text.length;
  }
  transaction.removeMark(from, end, schema.marks.link!).addMark(from, end, mark);
  transaction.setSelection(TextSelection.create(transaction.doc, end)).removeStoredMark(schema.marks.link!);
  view.dispatch(transaction);
  view.focus();
}

/** Return a typed URL; a bare host name gets a scheme. */
export function addressOf(typed: string): string | undefined {
  const text = typed.trim();
  if (/^[\w-]+(\.[\w-]+)+([/?#].*)?$/.test(text) && !/\.md([?#].*)?$/.test(text)) return `https://${text}`;
  return text && !/\s/.test(text) && /^([a-z]+:|[/#.])/i.test(text) ? safeUrl(text) : undefined;
}

const MARKED = "linked";

/** Keep the selected text highlighted while the caret is in the field; the browser doesn't. */
function mark(view: EditorView, from: number, to: number): void {
  if (from === to || !globalThis.CSS?.highlights) return;
  const range = document.createRange();
  const [start, end] = [view.domAtPos(from), view.domAtPos(to)];
  range.setStart(start.node, start.offset);
  range.setEnd(end.node, end.offset);
  CSS.highlights.set(MARKED, new Highlight(range));
}

let close: (() => void) | undefined;

/** Ask for the target of the selected text. */
export function openLink(view: EditorView): void {
  close?.();
  const before = linkAt(view.state);
  const { from, to } = before ?? view.state.selection;
  const input = h("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "link-choices",
    "aria-label": words.linkTo,
    placeholder: words.linkTo,
    spellcheck: "false",
    autocomplete: "off",
  });
  input.value = urlOf(before?.data.ref) ?? "";
  const list = h("div", { role: "listbox", id: "link-choices", "aria-label": words.pages });
  const box = h(
    "div",
    { class: "menu link-box", role: "dialog", "aria-label": words.link },
    h("div", { class: "link-row" }, input),
    list,
  );
  if (before) {
    box.firstElementChild!.append(
      h("button", {
        type: "button",
        title: words.removeLink,
        "aria-label": words.removeLink,
        onclick: () => {
          view.dispatch(view.state.tr.removeMark(before.from, before.to, schema.marks.link!));
          done();
        },
      }, drawIcon("link-slash")),
    );
  }
  let choices: Found[] = [];
  let active = 0;
  let asked = 0;
  const done = (): void => {
    close?.();
    view.focus();
  };
  const take = (at: number): void => {
    const choice = choices[at];
    if (choice) setLink(view, from, to, choice.ref, choice.title);
    done();
  };
  const draw = (): void => {
    list.replaceChildren(
      ...choices.map((choice, at) =>
        h(
          "div",
          {
            role: "option",
            class: "completion",
            "aria-selected": String(at === active),
            onclick: () => take(at),
          },
          h(
            "span",
            { class: "completion-text" },
            h("span", { class: "completion-title" }, choice.title),
            choice.line ? h("small", {}, choice.line) : null,
          ),
        )
      ),
    );
    list.children[active]?.scrollIntoView({ block: "nearest" });
  };
  const look = (): void => {
    const typed = input.value.trim();
    const address = addressOf(typed);
    const own: Found[] = address
      ? [{ title: address, line: words.address, ref: { kind: "url", url: address } }]
      : [];
    choices = own;
    active = 0;
    draw();
    const mine = ++asked;
    if (!address) {
      pagesFor(view, typed).then((found) => {
        if (mine !== asked) return;
        choices = [...own, ...found];
        draw();
      }, () => {});
    }
  };
  input.addEventListener("input", look);
  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && choices.length) {
      active = (active + step + choices.length) % choices.length;
      draw();
    } else if (event.key === "Enter" && event.target === input) {
      if (choices.length) take(active);
      else set(input, { "aria-invalid": "true" });
    } else if (event.key === "Escape") done();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const outside = (event: Event): void => {
    if (!box.contains(event.target as globalThis.Node)) close?.();
  };
  document.addEventListener("mousedown", outside, true);
  document.body.append(box);
  mark(view, from, to);
  close = () => {
    document.removeEventListener("mousedown", outside, true);
    globalThis.CSS?.highlights?.delete(MARKED);
    box.remove();
    close = undefined;
  };
  place(box, view.coordsAtPos(from));
  input.select();
  input.focus();
  look();
}
