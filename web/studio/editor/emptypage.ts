/** Suggestions on an empty page: page templates and the reusable content of the space. */
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
    title: t("guide"),
    icon: "stairs",
    make: () => [
      words(t("whatReadersWillHaveAchieved")),
      part(t("beforeYouBegin")),
      points(t("whatReadersNeed")),
      part(t("steps")),
      nodes.stepper!.create(null, [step(t("firstStep")), step(t("nextStep"))]),
      part(t("troubleshooting")),
      words(t("mostCommonProblem")),
    ],
  },
  {
    title: t("reference"),
    icon: "code",
    make: () => [
      words(t("whatItIsInOne")),
      part(t("example")),
      code(""),
      part(t("settings")),
      newTable(3, 2),
      part(t("limits")),
      points(undefined),
    ],
  },
  {
    title: t("releaseNotes"),
    icon: "calendar",
    make: () => [
      words(t("mostImportantChange")),
      part(t("new")),
      points(undefined),
      part(t("changed")),
      points(undefined),
      part(t("fixed")),
      points(undefined),
      part(t("upgradeNotes")),
      points(undefined),
    ],
  },
  {
    title: t("decision"),
    icon: "circle-check",
    make: () => [
      words(t("questionInOneSentence")),
      part(t("context")),
      points(undefined),
      part(t("options")),
      points(undefined),
      part(t("decisionAndReasons")),
      nodes.paragraph!.create(),
      part(t("consequences")),
      points(undefined),
    ],
  },
];

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
      t("fromThisSpace"),
    );
    // Show the button only if there is something to choose from.
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
