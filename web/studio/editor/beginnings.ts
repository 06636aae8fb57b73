/** What an empty page offers to begin with: kinds of pages, and copies of what the space keeps. */
import type { Node } from "prosemirror-model";
import { Plugin } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { t } from "../../shared/words.ts";
import { schema } from "../document/schema.ts";
import { h } from "./dom.ts";
import { drawIcon } from "./icons.ts";
import { openMenu } from "./menu.ts";
import { newTable } from "./tablecommands.ts";
import { code } from "./typing.ts";

const { nodes } = schema;
const words = (text: string): Node => nodes.paragraph!.create(null, schema.text(text));
const part = (title: string): Node => nodes.heading_1!.create(null, schema.text(title));
const item = (text?: string): Node =>
  nodes.list_item!.create(null, text ? words(text) : nodes.paragraph!.create());
const points = (...texts: (string | undefined)[]): Node =>
  nodes.list_unordered!.create(null, texts.map(item));
const step = (title: string): Node =>
  nodes.stepper_step!.create(null, [
    nodes.heading_2!.create(null, schema.text(title)),
    nodes.paragraph!.create(),
  ]);

interface Beginning {
  title: string;
  icon: string;
  make: () => Node[];
}

const BEGINNINGS: Beginning[] = [
  {
    title: t("Guide"),
    icon: "stairs",
    make: () => [
      words(t("What readers have done at the end of this page.")),
      part(t("Before you begin")),
      points(t("What they need: an account, a program, a right")),
      part(t("Steps")),
      nodes.stepper!.create(null, [step(t("First step")), step(t("Next step"))]),
      part(t("When it does not work")),
      words(t("What goes wrong most often, and what helps.")),
    ],
  },
  {
    title: t("Reference"),
    icon: "code",
    make: () => [
      words(t("What it is, in one sentence.")),
      part(t("Example")),
      code(""),
      part(t("Settings")),
      newTable(3, 2),
      part(t("Limits")),
      points(undefined),
    ],
  },
  {
    title: t("Release notes"),
    icon: "calendar",
    make: () => [
      words(t("What matters most in this version, in one sentence.")),
      part(t("New")),
      points(undefined),
      part(t("Changed")),
      points(undefined),
      part(t("Fixed")),
      points(undefined),
      part(t("What to do when you upgrade")),
      points(undefined),
    ],
  },
  {
    title: t("Decision"),
    icon: "circle-check",
    make: () => [
      words(t("The question, in one sentence.")),
      part(t("What we know")),
      points(undefined),
      part(t("What we could do")),
      points(undefined),
      part(t("What we do, and why")),
      nodes.paragraph!.create(),
      part(t("What follows from it")),
      points(undefined),
    ],
  },
];

/** What the space keeps to be shown in pages, by title. */
export interface Kept {
  list: () => Promise<{ id: string; title: string }[]>;
  /** The blocks of one of them, as new ones. */
  read: (id: string) => Promise<Node[]>;
  onproblem: (problem: Error) => void;
}

const isEmpty = (doc: Node): boolean =>
  doc.childCount === 1 && doc.firstChild!.type === nodes.paragraph && !doc.firstChild!.content.size;

/** A row below the caret of an empty page. It goes with the first letter, and comes back when that is undone. */
export function beginnings(kept: Kept): Plugin {
  const begin = (view: EditorView, blocks: Node[]): void => {
    // Somebody may have written meanwhile.
    if (!blocks.length || !isEmpty(view.state.doc)) return;
    view.dispatch(view.state.tr.replaceWith(0, view.state.doc.content.size, blocks).scrollIntoView());
    view.focus();
  };
  const offerKept = async (view: EditorView, beside: HTMLElement): Promise<void> => {
    const found = await kept.list();
    openMenu(
      view,
      beside,
      t("From this space"),
      found.toSorted((one, other) => one.title.localeCompare(other.title)).map(({ id, title }) => ({
        label: title,
        run: () => void kept.read(id).then((blocks) => begin(view, blocks), kept.onproblem),
      })),
    );
  };
  const draw = (view: EditorView): HTMLElement => {
    const row = h(
      "div",
      { class: "beginnings", role: "group", "aria-label": t("Begin with"), contenteditable: "false" },
      h("span", { "aria-hidden": "true" }, t("Begin with")),
      ...BEGINNINGS.map(({ title, icon, make }) =>
        h("button", { type: "button", onclick: () => begin(view, make()) }, drawIcon(icon), title)
      ),
    );
    const more = h(
      "button",
      {
        type: "button",
        "aria-haspopup": "menu",
        onclick: () => void offerKept(view, more).catch(kept.onproblem),
      },
      drawIcon("recycle"),
      t("From this space"),
    );
    // Only where there is something to choose.
    kept.list().then((found) => found.length && row.append(more), () => {});
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
