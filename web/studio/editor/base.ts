/** Which state of a space is shown. Only the state of a change request can be edited. */
export type Base =
  | { kind: "main" }
  | { kind: "change"; number: number }
  | { kind: "revision"; id: string };

/** How far the text is kept. `by`: who changed the page meanwhile; `clash`: the same words as here. */
export type SaveState =
  | { kind: "saved" }
  | { kind: "saving" }
  | { kind: "unsaved" }
  | { kind: "offline" }
  | { kind: "catching" }
  | { kind: "changed"; by: string; clash?: boolean };

/** A heading of the page, in their order: what the outline lists and leads to. */
export interface Heading {
  id: string;
  level: 1 | 2 | 3;
  text: string;
  /** Where it is now. It may be another element after each edit. */
  element: HTMLElement;
}

/** What a comment is to be about: a block by its key, and the words of it that were chosen. */
export interface About {
  block: string;
  quote?: string;
  /** How the block begins, for whoever writes the comment. */
  words: string;
}

/** Where somebody writes: below which heading, if any, and whether they have selected something. */
export interface Whereabouts {
  heading?: string;
  selects: boolean;
}

/** A thread about a block of the page, or about words of it. */
export interface Remark {
  id: string;
  node: string;
  quote?: string;
}

/** What the screen's bar and shortcuts ask of the page. */
export interface PageHandle {
  /** Saves what is not saved yet; resolves when the server has it. */
  flush(): Promise<void>;
  /** Where the text is now; `nowhere`: in this tab alone. */
  kept(): "server" | "browser" | "nowhere";
  undo(): boolean;
  redo(): boolean;
  focus(): void;
  /** Scrolls to where somebody is writing, and along with them until something is done here; false where that is unknown. */
  follow?(user: string): boolean;
  /** Where somebody is writing; undefined where that is unknown. */
  find?(user: string): Whereabouts | undefined;
  /** Puts Markdown where the caret is. */
  insert?(markdown: string): Promise<void>;
  /** What a comment would be about now: the block of the caret, or the words that are chosen. */
  chosen(): About | undefined;
  /** Marks these threads in the text; gives their ids in its order. */
  remark(remarks: Remark[], active?: string): string[];
  /** Scrolls to what a thread is about; false where it is not on the page any more. */
  show(remark: Remark): boolean;
}
