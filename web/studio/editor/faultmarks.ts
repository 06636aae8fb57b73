/**
 * Underlines what checks find in the text. The underlines are decorations: never part of the document or of a step, so
 * nobody else sees them. The code that checks is only loaded if a site of the space has a style guide.
 */
import { keydownHandler } from "prosemirror-keymap";
import { Plugin, PluginKey, type Transaction } from "prosemirror-state";
import { DecorationSet, type EditorView } from "prosemirror-view";
import type { Schemas } from "../../shared/client.ts";
import type { SitePath } from "../api/sites.ts";
import type { TextChecks } from "./textchecks.ts";

/** A finding in a text block. `words`: the text that it is about. */
export type Fault = Schemas["TextFinding"] & { words: string };

interface State {
  marks: DecorationSet;
  /** Return the underlines after a change. */
  refit?: (marks: DecorationSet, transaction: Transaction) => DecorationSet;
  checks?: TextChecks;
}

export const faultsKey = new PluginKey<State>("faults");

export function faultMarks(): Plugin<State> {
  return new Plugin<State>({
    key: faultsKey,
    state: {
      init: () => ({ marks: DecorationSet.empty }),
      apply(transaction, before) {
        const given = transaction.getMeta(faultsKey) as State | undefined;
        if (given) return { ...before, ...given };
        if (!transaction.docChanged || !before.refit) return before;
        return { ...before, marks: before.refit(before.marks, transaction) };
      },
    },
    props: {
      decorations: (state) => faultsKey.getState(state)!.marks,
      handleClick(view, position) {
        faultsKey.getState(view.state)!.checks?.openAt(position);
        return false;
      },
      handleKeyDown: keydownHandler({
        "Mod-.": (state) => faultsKey.getState(state)!.checks?.openNext() ?? false,
      }),
    },
    view: () => ({
      update: (view, before) => faultsKey.getState(view.state)!.checks?.update(before),
      destroy: () => {},
    }),
  });
}

type Hear = (faults: Fault[]) => void;

/** The checks of a page that is being edited. */
export class PageChecks {
  #checks: TextChecks | undefined;
  #site = "";
  #faults: Fault[] | undefined;
  readonly #ears = new Set<Hear>();

  constructor(readonly view: () => EditorView | undefined, readonly page: string) {}

  /** Check the text against the style guide of a site from now on. */
  async start(site: SitePath): Promise<void> {
    if (this.#site === site.siteId) return;
    this.#site = site.siteId;
    const { TextChecks, asking } = await import("./textchecks.ts");
    const view = this.view();
    if (!view || view.isDestroyed || this.#site !== site.siteId) return;
    this.#checks?.stop();
    this.#checks = new TextChecks(view, asking(site, this.page), (faults) => {
      this.#faults = faults;
      for (const hear of this.#ears) hear(faults);
    });
  }

  /** Call a function with the findings in text order, now and after each change, until the returned function is called. */
  follow(hear: Hear): () => void {
    this.#ears.add(hear);
    if (this.#faults) hear(this.#faults);
    return () => this.#ears.delete(hear);
  }

  /** Go to a finding and explain it. */
  show(fault: Fault): void {
    this.#checks?.show(fault);
  }

  stop(): void {
    this.#checks?.stop();
  }
}
