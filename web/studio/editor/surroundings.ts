/** The dependencies of a page's views, provided when it is mounted. */
import type { Node } from "prosemirror-model";
import type { Plugin, Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Lookup } from "./lookup.ts";
import type { RemarkOptions } from "./threadmarks.ts";

export interface Surroundings {
  lookup: Lookup;
  /** Mount a document inside this one. */
  mount: (place: HTMLElement, options: MountOptions) => EditorView;
  /** Open reusable content for editing in place. */
  writeInPlace: (options: InPlaceOptions) => Promise<InPlace>;
}

export interface MountOptions {
  doc: Node;
  lookup: Lookup;
  /** The editing functions; undefined if the page is only read. */
  plugins?: Plugin[];
  /** The threads in the text. */
  remarks?: RemarkOptions;
  label?: string;
  onchange?: (view: EditorView, transaction: Transaction) => void;
}

export interface InPlaceOptions {
  around: Surroundings;
  change: number;
  id: string;
  /** It is saved and closed. */
  ondone: () => void;
}

export interface InPlace {
  dom: HTMLElement;
  focus: () => void;
  destroy: () => void;
}
