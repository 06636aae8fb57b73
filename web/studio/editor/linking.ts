/** The link box: type or paste a URL, or find a page. */
import { type EditorState, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { safeUrl, urlOf } from "../document/drawing.ts";
import { uid } from "../document/building.ts";
import { schema } from "../document/schema.ts";
import type { Data, Ref } from "../document/types.ts";
import { marked } from "./completing.ts";
import { h, place, set } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import type { Lookup } from "./lookup.ts";
import { senderOf } from "./uploads.ts";
import { words } from "./words.ts";

export interface Found {
  title: string;
  line?: string;
  group?: string;
  icon?: string;
  /** Whether this result is part of the one above it. */
  within?: boolean;
  ref: Ref;
  /** Creates the target, a page with this title. */
  create?: { title: string; run: () => Promise<Ref> };
}

/** Find pages and their headings by words; the screen provides the search. */
export type FindPages = (words: string) => Promise<Found[]>;

export interface Finders {
  lookup: Lookup;
  pages: FindPages;
  /** Find files of the space, or only images. */
  files: (words: string, image?: boolean) => Promise<Found[]>;
  /** Create a page with this title under the current one. */
  create: (title: string) => Promise<Ref>;
}

/** Return the choice that creates a page with the typed title, if none has it. */
export function newTarget(typed: string, found: Found[], create: Finders["create"]): Found[] {
  const title = typed.trim();
  const known = found.some((each) => each.title.toLowerCase() === title.toLowerCase());
  return known || addressOf(title) ? [] : newPage(title, create);
}

/** Return the choice that creates a page with a title; none without a title. */
export function newPage(typed: string, create: Finders["create"]): Found[] {
  const title = typed.trim();
  if (!title) return [];
  return [{
    title: t("createPageTitle", { title }),
    group: words.pages,
    icon: "plus",
    ref: { kind: "page" },
    create: { title, run: () => create(title) },
  }];
}

const finders = new WeakMap<EditorView, Finders>();

export function findWith(view: EditorView, found: Finders): void {
  finders.set(view, found);
}

export function pagesFor(view: EditorView, typed: string): Promise<Found[]> {
  return finders.get(view)?.pages(typed) ?? Promise.resolve([]);
}

export function findFiles(view: EditorView, typed: string, image?: boolean): Promise<Found[]> {
  return finders.get(view)?.files(typed, image) ?? Promise.resolve([]);
}

export function lookupOf(view: EditorView): Lookup | undefined {
  return finders.get(view)?.lookup;
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

/** Return a typed URL. A bare hostname gets a scheme. */
export function addressOf(typed: string): string | undefined {
  const text = typed.trim();
  if (/^[\w-]+(\.[\w-]+)+([/?#].*)?$/.test(text) && !/\.md([?#].*)?$/.test(text)) return `https://${text}`;
  return text && !/\s/.test(text) && /^([a-z]+:|[/#.])/i.test(text) ? safeUrl(text) : undefined;
}

const MARKED = "linked";

/** Highlight the selected text while the caret is in the field, because the browser doesn't. */
function mark(view: EditorView, from: number, to: number): void {
  if (from === to || !globalThis.CSS?.highlights) return;
  const range = document.createRange();
  const [start, end] = [view.domAtPos(from), view.domAtPos(to)];
  range.setStart(start.node, start.offset);
  range.setEnd(end.node, end.offset);
  CSS.highlights.set(MARKED, new Highlight(range));
}

let close: (() => void) | undefined;

export interface TargetBox {
  title: string;
  /** The label of the field, if a typed URL isn't a target. */
  label?: string;
  /** The initial text of the field. */
  value: string;
  find: (typed: string) => Promise<Found[]>;
  take: (found: Found) => void;
  /** The URL that the link opens, and what removes it. If undefined, there are no buttons. */
  href?: string | undefined;
  remove?: () => void;
  /** Upload a file as the target. If undefined, there is no button. */
  upload?: (file: File) => Promise<Ref>;
  onclose?: () => void;
}

/** Open a box that finds link targets; a typed URL comes first. */
export function openTargets(
  view: EditorView,
  beside: HTMLElement | { left: number; top: number; bottom: number },
  { title, label, value, find, take, href, remove, upload, onclose }: TargetBox,
): void {
  close?.();
  const input = h("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "link-choices",
    "aria-label": label ?? words.linkTo,
    placeholder: label ?? words.linkTo,
    spellcheck: "false",
    autocomplete: "off",
  });
  input.value = value;
  const list = h("div", { role: "listbox", id: "link-choices", "aria-label": title });
  const message = h("p", { class: "link-nothing", role: "status" });
  const box = h(
    "div",
    { class: "menu link-box", role: "dialog", "aria-label": title },
    h("div", { class: "link-row" }, input),
    list,
    message,
    label ? null : foot(),
  );
  const done = (): void => {
    close?.();
    if (beside instanceof HTMLElement && beside.isConnected) beside.focus();
    else view.focus();
  };
  if (href) {
    box.firstElementChild!.append(
      h("a", {
        href,
        target: /^[/#]/.test(href) ? undefined : "_blank",
        title: t("openLink"),
        "aria-label": t("openLink"),
        rel: "noopener",
        // The app follows the link first.
        onclick: () => setTimeout(() => close?.()),
      }, drawIcon("arrow-up-right-from-square")),
    );
  }
  if (remove) {
    box.firstElementChild!.append(
      h("button", {
        type: "button",
        title: words.removeLink,
        "aria-label": words.removeLink,
        onclick: () => {
          remove();
          done();
        },
      }, drawIcon("link-slash")),
    );
  }
  if (upload) {
    const choice = h("input", { type: "file", class: "hidden-text", "aria-label": t("uploadFile") });
    choice.addEventListener("change", () => {
      const file = choice.files?.[0];
      if (!file) return;
      set(message, { "data-bad": null });
      message.textContent = `${words.uploading} ${file.name}`;
      upload(file).then((ref) => {
        if (!box.isConnected) return;
        close?.();
        take({ title: file.name, ref });
      }, (problem: Error) => {
        set(message, { "data-bad": true });
        message.textContent = problem.message;
      });
    });
    box.lastElementChild!.append(h("label", { class: "link" }, t("uploadFile"), choice));
  }
  let choices: Found[] = [];
  let active = 0;
  let asked = 0;
  const choose = (at: number): void => {
    const choice = choices[at];
    close?.();
    if (choice) take(choice);
    if (beside instanceof HTMLElement && beside.isConnected) beside.focus();
  };
  const draw = (): void => {
    let group: string | undefined;
    const rows = choices.flatMap((choice, at) => {
      const row = h(
        "div",
        {
          role: "option",
          id: `link-choice-${at}`,
          "aria-label": choice.title,
          class: choice.within ? "completion within" : "completion",
          "aria-selected": String(at === active),
          onclick: () => choose(at),
        },
        choice.icon ? h("span", { class: "completion-sign bare" }, drawIcon(choice.icon)) : null,
        h(
          "span",
          { class: "completion-text" },
          h("span", { class: "completion-title" }, ...marked(choice.title, input.value.trim())),
          choice.line ? h("small", {}, choice.line) : null,
        ),
        at === active ? h("kbd", { "aria-hidden": "true" }, "Enter") : null,
      );
      const named = choice.group && choice.group !== group
        ? [h("div", { class: "menu-group", role: "presentation" }, choice.group)]
        : [];
      group = choice.group;
      return [...named, row];
    });
    list.replaceChildren(...rows);
    set(input, { "aria-activedescendant": choices.length ? `link-choice-${active}` : null });
    list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
    // With its results, the box may no longer fit below.
    place(box, beside instanceof HTMLElement ? beside.getBoundingClientRect() : beside);
  };
  const look = (): void => {
    const typed = input.value.trim();
    const address = label ? undefined : addressOf(typed);
    const own: Found[] = address
      ? [{ title: address, line: words.address, icon: "link", ref: { kind: "url", url: address } }]
      : [];
    choices = own;
    active = 0;
    message.textContent = "";
    set(input, { "aria-invalid": null });
    draw();
    const mine = ++asked;
    find(typed).then((found) => {
      if (mine !== asked) return;
      choices = [...own, ...found];
      if (typed && !label && choices.every(({ create }) => create)) {
        message.textContent = t("noResultsForQuery", { query: typed });
      }
      draw();
    }, () => {});
  };
  input.addEventListener("input", look);
  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && choices.length) {
      active = (active + step + choices.length) % choices.length;
      draw();
    } else if (event.key === "Enter" && event.target === input) {
      if (choices.length) choose(active);
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
  close = () => {
    document.removeEventListener("mousedown", outside, true);
    box.remove();
    close = undefined;
    onclose?.();
  };
  input.select();
  input.focus();
  look();
}

/** Return the line below the choices: the keys, and what is added. */
function foot(): HTMLElement {
  const key = (names: string[], effect: string) =>
    h("span", { "aria-hidden": "true" }, ...names.map((name) => h("kbd", {}, name)), effect);
  return h(
    "div",
    { class: "link-foot" },
    key(["↑", "↓"], words.choose),
    key(["Enter"], t("linkInline")),
    key(["Esc"], t("closeInline")),
  );
}

async function linkTo(view: EditorView, from: number, to: number, found: Found): Promise<void> {
  const { create } = found;
  setLink(view, from, to, create ? await create.run() : found.ref, create?.title ?? found.title);
}

/** Open the link box for the selection. */
export function openLink(view: EditorView): void {
  const before = linkAt(view.state);
  const { from, to } = before ?? view.state.selection;
  const chosen = view.state.doc.textBetween(from, to, " ").trim();
  const send = senderOf(view);
  openTargets(view, view.coordsAtPos(from), {
    title: words.link,
    // Selected text is often the title of a page.
    value: urlOf(before?.data.ref) ?? (before || chosen.length > 60 ? "" : chosen),
    async find(typed) {
      const [pages, files] = await Promise.all([pagesFor(view, typed), typed ? findFiles(view, typed) : []]);
      const create = finders.get(view)?.create;
      return [...pages, ...files, ...(create ? newTarget(typed, pages, create) : [])];
    },
    take: (found) => void linkTo(view, from, to, found),
    ...(send ? { upload: async (file) => ({ kind: "file", file: (await send(file)).file }) } : {}),
    ...(before
      ? {
        href: lookupOf(view)?.href(before.data.ref),
        remove: () => view.dispatch(view.state.tr.removeMark(before.from, before.to, schema.marks.link!)),
      }
      : {}),
    onclose: () => globalThis.CSS?.highlights?.delete(MARKED),
  });
  mark(view, from, to);
}
