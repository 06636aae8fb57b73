/** What the views of a page are given by whoever mounts it. */
import type { Node } from "prosemirror-model";
import type { Plugin, Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Lookup } from "./lookup.ts";
import type { RemarkOptions } from "./remarks.ts";

export interface Surroundings {
  lookup: Lookup;
  /** Mounts a document within this one. */
  mount: (place: HTMLElement, options: MountOptions) => EditorView;
  /** Has a reusable content written where it is shown. */
  writeInPlace: (options: InPlaceOptions) => Promise<InPlace>;
}

export interface MountOptions {
  doc: Node;
  lookup: Lookup;
  /** What is there for writing; none: the page is only read. */
  plugins?: Plugin[];
  /** Threads in the text. */
  remarks?: RemarkOptions;
  label?: string;
  onchange?: (view: EditorView, transaction: Transaction) => void;
}

export interface InPlaceOptions {
  around: Surroundings;
  change: number;
  id: string;
  /** It is on the server, and closed here. */
  ondone: () => void;
}

export interface InPlace {
  dom: HTMLElement;
  focus: () => void;
  destroy: () => void;
}
