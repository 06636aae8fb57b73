import type { Schemas } from "../../shared/client.ts";
import type { SitePath } from "../api/sites.ts";

/** The displayed state of a space. `edits`: whether main is edited directly, in a space that allows it. */
export type Base =
  | { kind: "main"; edits?: true }
  | { kind: "change"; number: number }
  | { kind: "revision"; id: string };

/** The number that represents main where the number of a change request is expected. Change requests count
 * from 1. */
export const IN_MAIN = 0;

/** Return the number of the change request in which a state is edited, or `IN_MAIN`; undefined if it is only read. */
export function numberOf(base: Base): number | undefined {
  return base.kind === "change" ? base.number : base.kind === "main" && base.edits ? IN_MAIN : undefined;
}

/** Return the state for a number from `numberOf`. */
export function editedBase(number: number): Base {
  return number === IN_MAIN ? { kind: "main", edits: true } : { kind: "change", number };
}

/** The save status. `by`: the person who changed the page in the meantime; `clash`: they changed the same text. */
export type SaveState =
  | { kind: "saved" }
  | { kind: "saving" }
  | { kind: "unsaved" }
  | { kind: "offline" }
  | { kind: "maintenance" }
  | { kind: "catching" }
  | { kind: "changed"; by: string; clash?: boolean };

/** A heading of the page, as listed in the outline. */
export interface Heading {
  id: string;
  level: 1 | 2 | 3;
  text: string;
  /** Its anchor in URLs. */
  anchor: string;
  /** Return the heading's current element, which can change with each edit. */
  element: HTMLElement;
}

/** The target of a comment: the key of a block, and the selected text in it. */
export interface About {
  block: string;
  quote?: string;
  /** The start of the block, shown when writing the comment. */
  words: string;
}

/** Where a person is writing: below which heading, if any, and whether they have selected something. */
export interface Whereabouts {
  heading?: string;
  selects: boolean;
}

/** A thread about a block of the page or about text in it. */
export interface Remark {
  id: string;
  node: string;
  quote?: string;
}

/** A finding in a text block. `words`: the text that it is about. `replaced`: the text that its fix replaces. */
export type Fault = Schemas["TextFinding"] & { words: string; replaced: string | undefined };

/** The findings in the text of a page that is being edited. */
export interface FaultList {
  /** Start checking the text against the style guide of a site. */
  start(site: SitePath): Promise<void>;
  /** Call a function with the findings in text order, now and after each change, until the returned function is called. */
  follow(hear: (faults: Fault[]) => void): () => void;
  /** Go to a finding and explain it. */
  show(fault: Fault): void;
}

/** The functions of the page that the screen's bar and shortcuts use. */
export interface PageHandle {
  /** Save unsaved changes; resolves when the server has them. */
  flush(): Promise<void>;
  /** The save status; `nowhere`: only in this tab. */
  kept(): "server" | "browser" | "nowhere";
  undo(): boolean;
  redo(): boolean;
  focus(): void;
  /** Scroll to a person's caret and follow it until the next action in this editor. Return false if the caret is
   * unknown. */
  follow?(user: string): boolean;
  /** Return where a person is writing; undefined if that is unknown. */
  find?(user: string): Whereabouts | undefined;
  /** Checks of the text while it is edited. */
  checks?: FaultList;
  /** Insert Markdown at the caret. */
  insert?(markdown: string): Promise<void>;
  /** Return the current target of a comment: the block of the caret or the selected text. */
  chosen(): About | undefined;
  /** Mark these threads in the text. Returns their IDs in text order. */
  remark(remarks: Remark[], active?: string): string[];
  /** Scroll to the target of a thread. Return false if the target is no longer on the page. */
  show(remark: Remark): boolean;
  /** Scroll to an anchor. Resolves to false if the page doesn't have it. */
  reach?(anchor: string): Promise<boolean>;
}
