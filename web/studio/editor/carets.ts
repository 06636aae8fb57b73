/** Shows the carets and selections of other people with their names, and blocks that were restored after a deletion. */
import type { Node } from "prosemirror-model";
import { type EditorState, Plugin, PluginKey, Selection, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { freeHueOf } from "../parts/hue.ts";
import type { Whereabouts } from "./base.ts";
import { h } from "./dom.ts";
import { byKey } from "./rescue.ts";
import { words } from "./words.ts";
import { readInput } from "./pendinginput.ts";

export interface Caret {
  client: string;
  user: { id: string; displayName: string };
  anchor: number;
  head: number;
}

interface KnownCaret extends Caret {
  /** The time of the caret's last move, in milliseconds. */
  at: number;
  /** A class with a color. People have different colors as long as there are enough. */
  hue: string;
}

interface Known {
  /** The carets by their clients. */
  carets: Map<string, KnownCaret>;
  /** Restored blocks by key, with the person who had deleted them. */
  restored: Map<string, string>;
}

type Told =
  | { caret: Caret }
  | { gone: Pick<Caret, "client" | "user"> }
  | { restored: string; by: string }
  | { dismissed: string };

/** The number of milliseconds for which an idle caret is shown. */
const LASTS = 60_000;
/** The number of milliseconds for which a name is shown at a caret that moved. */
const NAMED = 2_000;

/** Return a name for a client. Those of different people can have the same ID. */
const nameOfClient = ({ client, user }: Pick<Caret, "client" | "user">): string => `${user.id} ${client}`;

const caretsKey = new PluginKey<Known>("carets");

export function tellCarets(view: EditorView, told: Told): void {
  view.dispatch(readInput(view).tr.setMeta(caretsKey, told).setMeta("addToHistory", false));
}

function known(before: Known, told: Told | undefined, transaction: Transaction): Known {
  if (!told && !transaction.docChanged) return before;
  const carets = new Map(before.carets);
  const restored = new Map(before.restored);
  const { mapping, doc } = transaction;
  for (const [name, caret] of carets) {
    carets.set(name, { ...caret, anchor: mapping.map(caret.anchor), head: mapping.map(caret.head) });
  }
  if (told && "caret" in told) {
    const { caret } = told;
    const within = (place: number): number => Math.max(0, Math.min(place, doc.content.size));
    const [anchor, head] = [within(caret.anchor), within(caret.head)];
    const all = [...carets.values()];
    const same = all.find(({ user }) => user.id === caret.user.id);
    const hue = same?.hue ?? freeHueOf(caret.user.id, new Set(all.map((one) => one.hue)));
    carets.set(nameOfClient(caret), { ...caret, anchor, head, at: Date.now(), hue });
  } else if (told && "gone" in told) carets.delete(nameOfClient(told.gone));
  else if (told && "restored" in told) restored.set(told.restored, told.by);
  else if (told) restored.delete(told.dismissed);
  return { carets, restored };
}

/** Render a caret. Its name is rendered by a style, so it isn't part of the page's text. */
function drawCaret({ user, at, anchor, head, hue }: KnownCaret): HTMLElement {
  // The name is shown as long as text is selected.
  const isFresh = anchor !== head || Date.now() - at < NAMED;
  const made = h("span", {
    class: `caret ${hue}${isFresh ? " fresh" : ""}`,
    "data-name": user.displayName,
    "aria-hidden": "true",
  });
  if (anchor === head) setTimeout(() => made.classList.remove("fresh"), NAMED);
  return made;
}

/** Render the note below a restored block. */
function drawRestored(view: EditorView, key: string, name: string): HTMLElement {
  const dismiss = (): void => tellCarets(view, { dismissed: key });
  const remove = (): void => {
    const found = byKey(view.state.doc, key);
    dismiss();
    if (found) view.dispatch(view.state.tr.delete(found.pos, found.pos + found.node.nodeSize));
    view.focus();
  };
  return h(
    "div",
    { class: "restored", role: "status", contenteditable: "false" },
    h("span", {}, t("nameDeletedThisParagraph", { name })),
    h("button", { type: "button", class: "link", onclick: remove }, t("deleteIt")),
    h("button", { type: "button", "aria-label": t("dismiss"), title: t("dismiss"), onclick: dismiss }, "×"),
  );
}

/** Return where to draw a caret. Between blocks, cells, or tabs, it would take a line or be drawn as one of them. */
function placeOfMark(doc: Node, at: number): number {
  const $at = doc.resolve(at);
  if ($at.parent.inlineContent) return at;
  return (Selection.findFrom($at, -1, true) ?? Selection.findFrom($at, 1, true))?.head ?? at;
}

function decorations(state: EditorState): DecorationSet {
  const { carets, restored } = caretsKey.getState(state)!;
  const found: Decoration[] = [];
  for (const caret of carets.values()) {
    const [from, to] = [Math.min(caret.anchor, caret.head), Math.max(caret.anchor, caret.head)];
    if (to > from) {
      found.push(Decoration.inline(from, to, { class: `caret-range ${caret.hue}` }));
    }
    // A block that the browser may skip when rendering clips the name above it.
    const head = placeOfMark(state.doc, caret.head);
    const $head = state.doc.resolve(head);
    if ($head.depth) found.push(Decoration.node($head.before(1), $head.after(1), { class: "with-caret" }));
    const key = `${nameOfClient(caret)} ${caret.at}`;
    found.push(
      Decoration.widget(head, () => drawCaret(caret), { key, side: 1, ignoreSelection: true }),
    );
  }
  for (const [key, name] of restored) {
    const block = byKey(state.doc, key);
    if (!block) continue;
    const end = block.pos + block.node.nodeSize;
    found.push(
      Decoration.widget(end, (view) => drawRestored(view, key, name), { key: `restored ${key}`, side: -1 }),
    );
  }
  return DecorationSet.create(state.doc, found);
}

/** Show carets. `onmove`: called when the selection changes without an edit. */
export function carets(onmove: () => void): Plugin {
  return new Plugin({
    key: caretsKey,
    state: {
      init: (): Known => ({ carets: new Map(), restored: new Map() }),
      apply: (transaction, before) => known(before, transaction.getMeta(caretsKey), transaction),
    },
    props: { decorations },
    view(view) {
      const timer = setInterval(() => {
        const old = Date.now() - LASTS;
        for (const caret of caretsKey.getState(view.state)!.carets.values()) {
          if (caret.at < old) tellCarets(view, { gone: caret });
        }
      }, LASTS / 6);
      return {
        update({ state }, before) {
          if (!state.selection.eq(before.selection) && state.doc === before.doc) onmove();
        },
        destroy: () => clearInterval(timer),
      };
    },
  });
}

/** Return the name of a person whose caret is known. */
export function nameOf(state: EditorState, user: string | undefined): string {
  const found = user === undefined ? undefined : caretOf(state, user);
  return found?.user.displayName ?? words.someone;
}

/** Return where a person is writing; undefined if that is unknown. */
export function whereIs({ state }: EditorView, user: string): Whereabouts | undefined {
  const found = caretOf(state, user);
  if (!found) return undefined;
  let heading: string | undefined;
  state.doc.nodesBetween(0, found.head, (node) => {
    if (node.type.name.startsWith("heading_") && node.textContent) heading = node.textContent;
    return !node.isTextblock;
  });
  return { ...(heading === undefined ? {} : { heading }), selects: found.anchor !== found.head };
}

function caretOf(state: EditorState, user: string): Caret | undefined {
  return [...caretsKey.getState(state)!.carets.values()].find((caret) => caret.user.id === user);
}

/** Scroll to a person's caret. Return false if the caret is unknown. */
export function showCaret(view: EditorView, user: string): boolean {
  const found = caretOf(view.state, user);
  if (!found) return false;
  const { node } = view.domAtPos(found.head);
  const element = node instanceof Element ? node : node.parentElement;
  element?.scrollIntoView({ block: "center" });
  return true;
}
