/** An editor for one block or a few blocks of a page: for suggested edits and for resolving conflicts. */
import { keymap } from "prosemirror-keymap";
import type { Node } from "prosemirror-model";
import { Selection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { writeDocument } from "../document/convert.ts";
import type { BlockJson } from "../document/types.ts";
import { schema } from "../document/schema.ts";
import { editingPlugins } from "./editing.ts";
import { finding, openFind } from "./finding.ts";
import { openLink } from "./linking.ts";
import type { Lookup } from "./lookup.ts";
import { mountPage } from "./mounting.ts";
import { toolbar } from "./toolbar.ts";

export interface BlockWriting {
  /** The current blocks. The first one keeps its original key. */
  blocks: () => BlockJson[];
  /** Whether anything has changed. */
  changed: () => boolean;
  focus: () => void;
  stop: () => void;
}

interface Options {
  nodes: Node[];
  lookup: Lookup;
  label: string;
  onchange: () => void;
  /** Called when the keys that submit are pressed. */
  onsend: () => void;
  /** Called when Escape is pressed without any changes. */
  onleave: () => void;
}

export function writeBlocks(place: HTMLElement, options: Options): BlockWriting {
  const doc = schema.nodes.doc!.create(null, options.nodes);
  const changed = (): boolean => !view.state.doc.eq(doc);
  const send = (): boolean => {
    options.onsend();
    return true;
  };
  const view: EditorView = mountPage(place, {
    doc,
    lookup: options.lookup,
    label: options.label,
    plugins: [
      keymap({
        "Mod-Enter": send,
        Escape: () => {
          if (changed()) return false;
          options.onleave();
          return true;
        },
      }),
      ...editingPlugins({ save: send, link: openLink, find: openFind, comment: () => {}, menu: () => {} }),
      finding(),
      toolbar({}),
    ],
    onchange: options.onchange,
  });
  return {
    blocks: () => writeDocument(view.state.doc).nodes,
    changed,
    focus() {
      view.dispatch(view.state.tr.setSelection(Selection.atEnd(view.state.doc)));
      view.focus();
    },
    stop: () => view.destroy(),
  };
}
