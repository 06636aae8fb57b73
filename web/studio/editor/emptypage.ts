/** Suggestions on an empty page: page templates and the reusable content of the space. */
import type { Node } from "prosemirror-model";
import { Plugin } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import { h } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { openMenu } from "./menu.ts";

const { nodes } = schema;

/** The reusable content of a space, with functions to list and read it. */
export interface Kept {
  list: () => Promise<{ id: string; title: string }[]>;
  /** Return the blocks of a piece of reusable content, as new blocks. */
  read: (id: string) => Promise<Node[]>;
  onproblem: (problem: Error) => void;
}

const isEmpty = (doc: Node): boolean =>
  doc.childCount === 1 && doc.firstChild!.type === nodes.paragraph && !doc.firstChild!.content.size;

/** Show a row below the caret on an empty page. It disappears when the first letter is typed, and reappears when
 * that is undone. */
export function beginnings(kept: Kept): Plugin {
  const begin = (view: EditorView, blocks: Node[]): void => {
    // The person may have started to type in the meantime.
    if (!blocks.length || !isEmpty(view.state.doc)) return;
    view.dispatch(view.state.tr.replaceWith(0, view.state.doc.content.size, blocks).scrollIntoView());
    view.focus();
  };
  const offerKept = async (view: EditorView, beside: HTMLElement): Promise<void> => {
    const found = await kept.list();
    openMenu(
      view,
      beside,
      t("fromThisSpace"),
      found.toSorted((one, other) => one.title.localeCompare(other.title)).map(({ id, title }) => ({
        label: title,
        run: () => void kept.read(id).then((blocks) => begin(view, blocks), kept.onproblem),
      })),
    );
  };
  const draw = (view: EditorView): HTMLElement => {
    const row = h(
      "div",
      { class: "beginnings", role: "group", "aria-label": t("startWith"), contenteditable: "false" },
      h("span", { "aria-hidden": "true" }, t("startWith")),
    );
    const more = h(
      "button",
      {
        type: "button",
        "aria-haspopup": "menu",
        onclick: () => void offerKept(view, more).catch(kept.onproblem),
      },
      drawIcon("recycle"),
      t("fromThisSpace"),
    );
    // Most pages that are edited aren't empty, so this code is loaded for those that are.
    import("./beginnings.ts").then(async ({ BEGINNINGS }) => {
      row.append(
        ...BEGINNINGS.map(({ title, icon, make }) =>
          h("button", { type: "button", onclick: () => begin(view, make()) }, drawIcon(icon), title)
        ),
      );
      // Show the button only if there is something to choose from.
      if ((await kept.list()).length) row.append(more);
    }).catch(() => {});
    return row;
  };
  return new Plugin({
    props: {
      decorations: ({ doc }) =>
        isEmpty(doc)
          ? DecorationSet.create(doc, [
            Decoration.widget(doc.content.size, draw, {
              key: "beginnings",
              side: 1,
              ignoreSelection: true,
              stopEvent: () => true,
            }),
          ])
          : null,
    },
  });
}
