/** Annotations: Markdown notes on words, which readers can open. */
import type { Mark } from "prosemirror-model";
import { type EditorState, Plugin } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { uid } from "../document/building.ts";
import { schema } from "../document/schema.ts";
import type { BlockJson, Json } from "../document/types.ts";
import { h, place } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { words } from "./words.ts";

/** Converts the text of a note to blocks and back, using the server. */
export interface NoteWords {
  read: (markdown: string) => Promise<BlockJson[]>;
  write: (blocks: BlockJson[]) => Promise<string>;
}

interface Note {
  from: number;
  to: number;
  mark: Mark;
}

const type = schema.marks.annotation!;

/** Return the note around the caret or on the selection. */
export function noteAt(state: EditorState, at = state.selection.from): Note | undefined {
  const $at = state.doc.resolve(at);
  const mark = type.isInSet($at.marks()) ?? ($at.nodeAfter ? type.isInSet($at.nodeAfter.marks) : undefined);
  if (!mark) return undefined;
  let [from, to] = [-1, -1];
  $at.parent.forEach((node, offset) => {
    if (!mark.isInSet(node.marks)) return;
    if (from < 0) from = $at.start() + offset;
    to = $at.start() + offset + node.nodeSize;
  });
  return { from, to, mark };
}

/** Return a number that no note on the page has. */
function newLabel(state: EditorState): string {
  const taken = new Set<string>();
  state.doc.descendants((node) => {
    for (const mark of node.marks) {
      if (mark.type !== type) continue;
      for (const { fragment } of mark.attrs.fragments as { fragment?: string }[]) taken.add(fragment ?? "");
    }
  });
  let label = 1;
  while (taken.has(String(label))) label++;
  return String(label);
}

let close: (() => void) | undefined;

/** Open the note on the selected text or at a position. */
export async function openNote(view: EditorView, noteWords: NoteWords, at?: number): Promise<void> {
  close?.();
  const before = noteAt(view.state, at);
  const { from, to } = before ?? view.state.selection;
  if (from === to) return;
  const fragments = (before?.mark.attrs.fragments ?? []) as { fragment?: string; nodes?: BlockJson[] }[];
  const text = h("textarea", {
    rows: 4,
    "aria-label": words.note,
    placeholder: words.noteWords,
    spellcheck: "true",
  });
  const save = h(
    "button",
    { type: "button", class: "button primary small", onclick: () => void put() },
    words.saveNote,
  );
  const row = h("div", { class: "note-row" }, save);
  const box = h("div", { class: "menu note-box", role: "dialog", "aria-label": words.note }, text, row);
  const done = (): void => {
    close?.();
    view.focus();
  };
  const put = async (): Promise<void> => {
    const typed = text.value.trim();
    if (!typed) {
      text.focus();
      return;
    }
    save.setAttribute("aria-busy", "true");
    let nodes: BlockJson[];
    try {
      nodes = await noteWords.read(typed);
    } catch {
      save.removeAttribute("aria-busy");
      text.setAttribute("aria-invalid", "true");
      return;
    }
    // In the meantime, someone may have typed text before this position.
    const now = before ? noteAt(view.state, Math.min(from + 1, view.state.doc.content.size)) : { from, to };
    if (now && now.to <= view.state.doc.content.size) {
      const label = fragments[0]?.fragment ?? newLabel(view.state);
      const mark = type.create({
        ...(before?.mark.attrs ?? { uid: uid() }),
        fragments: [{
          object: "fragment",
          fragment: label,
          type: "annotation-body",
          nodes,
        }] as unknown as Json,
      });
      view.dispatch(
        view.state.tr.removeMark(now.from, now.to, type).addMark(now.from, now.to, mark).removeStoredMark(
          type,
        ),
      );
    }
    done();
  };
  if (before) {
    row.prepend(
      h("button", {
        type: "button",
        title: words.removeNote,
        "aria-label": words.removeNote,
        onclick: () => {
          view.dispatch(view.state.tr.removeMark(before.from, before.to, type));
          done();
        },
      }, drawIcon("trash-can")),
    );
  }
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") done();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void put();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const outside = (event: Event): void => {
    if (!box.contains(event.target as globalThis.Node) && !text.value.trim()) close?.();
  };
  document.addEventListener("mousedown", outside, true);
  document.body.append(box);
  close = () => {
    document.removeEventListener("mousedown", outside, true);
    box.remove();
    close = undefined;
  };
  place(box, view.coordsAtPos(from));
  text.focus();
  if (fragments[0]?.nodes?.length) {
    text.readOnly = true;
    text.value = await noteWords.write(fragments[0].nodes).catch(() => "");
    text.readOnly = false;
  }
}

/** Open a note when the annotated text is clicked. */
export function noting(noteWords: NoteWords): Plugin {
  return new Plugin({
    props: {
      handleClick(view, position, event) {
        if (!(event.target as Element).closest?.(".noted")) return false;
        void openNote(view, noteWords, position);
        return false;
      },
    },
    view: () => ({ destroy: () => close?.() }),
  });
}
