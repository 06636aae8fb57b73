/** The base of node views, which use plain DOM with the reader's classes. */
import type { Node } from "prosemirror-model";
import type { EditorView, NodeView, ViewMutationRecord } from "prosemirror-view";
import { same } from "../document/comparing.ts";
import type { Data } from "../document/types.ts";
import type { Surroundings } from "./surroundings.ts";

/** Types through which views access the page around them. */
export type Position = () => number | undefined;

export function dataOf(node: Node): Data {
  return node.attrs.data as Data;
}

/** Milliseconds without typing before a drawing is updated. */
export const REDRAW = 150;

/** A view that renders itself again if more than its content changed. */
export abstract class Drawn implements NodeView {
  abstract dom: HTMLElement;
  contentDOM?: HTMLElement | null;

  constructor(
    protected node: Node,
    protected view: EditorView,
    protected position: Position,
    protected around: Surroundings,
  ) {}

  update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    const before = this.node;
    this.node = node;
    // A block may get its key after it was rendered.
    if (
      before.attrs === node.attrs ||
      (node.attrs.data !== undefined && same(before.attrs.data, node.attrs.data))
    ) return true;
    return this.changed(before);
  }

  /** Render changed attributes. Return false if the node must be rendered from scratch. */
  protected changed(_before: Node): boolean {
    return false;
  }

  ignoreMutation(mutation: ViewMutationRecord): boolean {
    if (mutation.type === "selection") return false;
    return !this.contentDOM?.contains(mutation.target) ||
      (mutation.type === "attributes" && mutation.target === this.contentDOM);
  }

  /** Return whether the editor should ignore an event, because it occurred outside the content. */
  stopEvent(event: Event): boolean {
    const target = event.target as HTMLElement;
    if (this.contentDOM?.contains(target)) return false;
    return target.closest("button, input, select, textarea, summary .i") !== null &&
      !/^drag|^drop/.test(event.type);
  }

  protected get editable(): boolean {
    return this.view.editable;
  }

  protected select(): void {
    const at = this.position();
    if (at === undefined || !this.editable) return;
    this.around.select(this.view, at);
  }
}
