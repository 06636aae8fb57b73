/** The dependencies of a page's views, provided when it is mounted. */
import type { Node } from "prosemirror-model";
import type { Plugin, Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { DocumentJson } from "../document/types.ts";
import type { Lookup } from "./lookup.ts";

export interface Surroundings {
  lookup: Lookup;
  /** Mount a read-only document inside this one. */
  mount: (place: HTMLElement, document: DocumentJson) => Promise<{ destroy(): void }>;
  /** Select the node at a position. */
  select: (view: EditorView, position: number) => void;
  /** Open reusable content for editing in place. */
  writeInPlace: (options: InPlaceOptions) => Promise<InPlace>;
}

export interface MountOptions {
  doc: Node;
  lookup: Lookup;
  /** The editing functions; undefined if the page is read-only. */
  plugins?: Plugin[];
  /** Called to open a thread that is marked in the text; undefined if there are no threads. */
  onremark?: (id: string) => void;
  label?: string;
  onchange?: (view: EditorView, transaction: Transaction) => void;
}

export interface InPlaceOptions {
  around: Surroundings;
  change: number;
  id: string;
  /** Called when the content is saved and closed. */
  ondone: () => void;
}

export interface InPlace {
  dom: HTMLElement;
  focus: () => void;
  destroy: () => void;
}
