/**
 * Underlines what checks find in the text. The underlines are decorations, which are never part of the document or
 * of a step, so other people don't see them. `pagechecks.ts` loads the checks.
 */
import { keydownHandler } from "prosemirror-keymap";
import { type EditorState, Plugin, PluginKey, type Transaction } from "prosemirror-state";
import { DecorationSet } from "prosemirror-view";

interface Checks {
  /** Return the underlines after a change. */
  refit: (marks: DecorationSet, transaction: Transaction) => DecorationSet;
  /** Update the checks after a change in the editor. */
  update: (before: EditorState) => void;
  /** Explain the finding at a position. */
  openAt: (position: number) => void;
  /** Explain the finding at the caret, or else the next one. */
  openNext: () => void;
}

interface State {
  marks: DecorationSet;
  checks?: Checks | undefined;
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
        if (!transaction.docChanged || !before.checks) return before;
        return { ...before, marks: before.checks.refit(before.marks, transaction) };
      },
    },
    props: {
      decorations: (state) => faultsKey.getState(state)!.marks,
      handleClick(view, position) {
        faultsKey.getState(view.state)!.checks?.openAt(position);
        return false;
      },
      handleKeyDown: keydownHandler({
        "Mod-.": (state) => {
          const { checks } = faultsKey.getState(state)!;
          checks?.openNext();
          return checks !== undefined;
        },
      }),
    },
    view: () => ({
      update: (view, before) => faultsKey.getState(view.state)!.checks?.update(before),
    }),
  });
}
