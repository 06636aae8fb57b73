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
  | { kind: "changed"; by: string; clash?: boolean };

/** A heading of the page, in their order: what the outline lists and leads to. */
export interface Heading {
  id: string;
  level: 1 | 2 | 3;
  text: string;
  /** Where it is now. It may be another element after each edit. */
  element: HTMLElement;
}

/** What the screen's bar and shortcuts ask of the page. */
export interface PageHandle {
  /** Saves what is not saved yet; resolves when the server has it. */
  flush(): Promise<void>;
  undo(): boolean;
  redo(): boolean;
  focus(): void;
}
